"""A worker that dies between the answer to its commit and its settlement, in a stack of its own."""

from pathlib import Path

from local.stack import Stack
from tests.examples import place_order_body

from .desk import Desk

APP = Path(__file__).parent / "dying_app"
ROOT = Path(__file__).parents[2]


async def test_killed_after_the_commit_before_the_settlement(tmp_path):
    """The broker was told nothing; the redelivery finds the marker and completes: one effect, nothing dead-lettered."""
    grave = tmp_path / "grave"
    # Storage is named and not there: this app parks nothing.
    storage = {"AzureWebJobsStorage": "UseDevelopmentStorage=true"}
    settings = {"GRAVE": str(grave), "PYTHONPATH": str(ROOT), **storage}
    async with Stack.running(app_dir=APP, settings=settings, logs=tmp_path) as stack, Desk.at(stack) as desk:
        before = await stack.host.status()
        await desk.send("orders", place_order_body("S1"), "S1/placed")
        await stack.host.wait_running(after=before)
        assert grave.read_text() == str(before.worker_pid)
        written = {kind: len(found) for kind, found in (await desk.documents("orders", "S1")).items()}
        assert written == {"order": 1, "order-line": 2, "marker": 1}
        await desk.expire_locks()
        await desk.until_empty()
        assert {kind: len(found) for kind, found in (await desk.documents("orders", "S1")).items()} == written
        assert await desk.requests("orders", "S1") == ["Batch", "Read"]
        assert await desk.dead_letters("orders", "S1/placed") == []
        counts = (await stack.service_bus.statistics())["orders"]
        assert (counts.deliveries, counts.completed, counts.lock_expired) == (2, 1, 1)
