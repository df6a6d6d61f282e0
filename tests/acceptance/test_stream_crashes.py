"""What each crash leaves of a stream: batches come again, every movement counts once, no checkpoint passes one by."""

import pytest

from local.host.host import FunctionsHost
from local.stack.launcher import ROOT

from .desk import Desk
from .movements import level, movements, of
from .stream import Stream

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_replay_from_an_old_checkpoint_changes_nothing(desk, stream):
    """A partition is read again from its beginning: all duplicates, and the poison has still one row."""
    events = movements("S5", 20)
    events[7] = (events[7][0], b"broken")
    await stream.send("S5", events)
    await stream.until_read()
    before = await level(desk, "S5")
    again = await stream.delivered_again()
    await stream.replay()
    assert await stream.delivered_again() >= again + 20
    assert await level(desk, "S5") == before
    assert len(await stream.parked("S5")) == 1


async def kill_and_read_again(desk: Desk, stream: Stream) -> None:
    """The worker dies in the middle of a batch; the next one gets the batch again."""
    killed = await desk.kill_worker()
    assert killed.in_flight >= 1
    await desk.stack.cosmos.release()
    await desk.host.wait_running(after=killed)
    await stream.until_read()


async def test_killed_before_the_commit_of_a_batch(desk, stream):
    """Nothing was written; the batch is read again."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S6", when="before", hold=True, drop=True, times=1)
    await stream.send("S6", movements("S6", 10))
    await desk.until_held()
    assert await level(desk, "S6") == of(0)
    await kill_and_read_again(desk, stream)
    assert await level(desk, "S6") == of(10)


async def test_killed_after_one_of_two_commits_of_a_batch(desk, stream):
    """Half of a large batch is written: the second reading finds its markers and does the other half."""
    events = movements("S7", 60)  # more than one commit holds
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S7", when="after", hold=True, times=1)
    await stream.send("S7", events)
    await desk.until_held()
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S7", when="before", hold=True, drop=True, times=1)
    await desk.stack.cosmos.release()
    await desk.until_held()
    _, written, _ = await level(desk, "S7")
    assert 0 < written < 60
    await kill_and_read_again(desk, stream)
    assert await level(desk, "S7") == of(60)


async def test_killed_after_the_commit_before_the_checkpoint(desk, stream):
    """Everything is written and the checkpoint is not: the second reading changes nothing."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S8", when="after", hold=True, drop=True, times=1)
    await stream.send("S8", movements("S8", 10))
    await desk.until_held()
    assert await level(desk, "S8") == of(10)
    await kill_and_read_again(desk, stream)
    assert await level(desk, "S8") == of(10)


async def test_an_outage_of_the_database_pauses_the_partition_and_loses_nothing(desk, stream):
    """Unavailable a dozen times, then back: the same batch goes through, in order and once."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S9", when="before", status=503, times=12)
    await stream.send("S9", movements("S9", 10))
    await stream.until_read()
    assert await level(desk, "S9") == of(10)
    assert await stream.parked("S9") == []


async def test_two_owners_of_a_partition_have_one_effect(desk, stream):
    """A second host takes partitions over and reads events that the first one is still working on."""
    skus = [f"T{n}" for n in range(8)]
    await desk.stack.cosmos.fault(operation="Batch", container="stock", when="before", hold=True, times=8)
    for sku in skus:
        await stream.send(sku, movements(sku, 5))
    await desk.until_held()
    async with FunctionsHost.running(ROOT, desk.stack.services.settings()):
        again = await stream.delivered_again()

        async def taken_over() -> bool:
            return await stream.delivered_again() > again

        await desk.until(taken_over)
        await desk.stack.cosmos.release()
        await stream.until_read()
    await stream.until_read()
    assert [await level(desk, sku) for sku in skus] == [of(5)] * len(skus)
