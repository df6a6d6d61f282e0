"""What each crash leaves: processes die and connections break for real, and every order has one effect."""

import asyncio
from functools import partial

import pytest

from tests.examples import place_order_body

from .desk import Desk

pytestmark = pytest.mark.asyncio(loop_scope="session")

ONE_EFFECT = {"order": 1, "order-line": 2, "marker": 1}


async def effects(desk: Desk, order_id: str) -> dict[str, int]:
    return {kind: len(found) for kind, found in (await desk.documents("orders", order_id)).items()}


async def has_one_effect(desk: Desk, order_id: str) -> bool:
    return await effects(desk, order_id) == ONE_EFFECT


async def send(desk: Desk, order_id: str) -> None:
    await desk.send("orders", place_order_body(order_id), f"{order_id}/placed")


async def kill_and_redeliver(desk: Desk) -> None:
    """The worker dies; what it had in hand comes again to the next one."""
    killed = await desk.kill_worker()
    assert killed.in_flight >= 1
    await desk.stack.cosmos.release()
    await desk.host.wait_running(after=killed)
    await desk.expire_locks()
    await desk.until_empty()


async def test_killed_before_the_commit(desk):
    """Nothing was written; the redelivery does the work."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="K1", when="before", hold=True, drop=True, times=1)
    await send(desk, "K1")
    await desk.until_held()
    assert await effects(desk, "K1") == {}
    await kill_and_redeliver(desk)
    assert await effects(desk, "K1") == ONE_EFFECT


async def test_killed_before_the_commit_that_lands_all_the_same(desk):
    """The batch was on its way when the worker died and is carried out later: the redelivery finds its marker."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="K2", when="before", hold=True, times=1)
    await send(desk, "K2")
    await desk.until_held()
    killed = await desk.kill_worker()
    await desk.stack.cosmos.release()
    await desk.until(partial(has_one_effect, desk, "K2"))
    await desk.host.wait_running(after=killed)
    await desk.expire_locks()
    await desk.until_empty()
    assert await desk.requests("orders", "K2") == ["Batch", "Read"]
    assert await effects(desk, "K2") == ONE_EFFECT


async def test_killed_after_the_commit_with_its_answer_lost(desk):
    """Everything was written and nobody was told: the redelivery reads the marker and completes."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="K3", when="after", hold=True, drop=True, times=1)
    await send(desk, "K3")
    await desk.until_held()
    assert await effects(desk, "K3") == ONE_EFFECT
    await kill_and_redeliver(desk)
    assert await effects(desk, "K3") == ONE_EFFECT
    assert "Read" in await desk.requests("orders", "K3")


async def test_the_answer_to_a_commit_is_lost_and_the_worker_lives(desk):
    """The attempt id in the marker says that it was us: one delivery, one effect."""
    before = (await desk.stack.service_bus.statistics())["orders"]
    await desk.stack.cosmos.fault(operation="Batch", partition_key="K4", when="after", drop=True, times=1)
    await send(desk, "K4")
    await desk.until_empty()
    after = (await desk.stack.service_bus.statistics())["orders"]
    assert await effects(desk, "K4") == ONE_EFFECT
    assert (after.deliveries - before.deliveries, after.completed - before.completed) == (1, 1)


async def test_a_lock_expires_while_a_second_copy_runs(desk):
    """Two deliveries of one message at once, the first one's settlement too late: one effect, nothing dead-lettered."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="K5", when="before", hold=True, times=1)
    await send(desk, "K5")
    await desk.until_held()
    await desk.expire_locks()
    await desk.until(partial(has_one_effect, desk, "K5"))
    await desk.stack.cosmos.release()
    await desk.until_empty()
    assert await effects(desk, "K5") == ONE_EFFECT
    assert 'complete failed for "K5/placed"' in desk.app_log()
    assert await desk.dead_letters("orders", "K5/placed") == []


@pytest.mark.parametrize("status", [429, 449, 503, 408])
async def test_an_outage_of_the_database_is_waited_out_in_one_delivery(desk, status):
    """Throttled or unavailable a few times: the message is held, not burnt, and processed when it is over."""
    order_id = f"K6-{status}"
    before = (await desk.stack.service_bus.statistics())["orders"]
    await desk.stack.cosmos.fault(operation="Batch", partition_key=order_id, when="before", status=status, times=4)
    await send(desk, order_id)
    await desk.until_empty()
    after = (await desk.stack.service_bus.statistics())["orders"]
    assert await effects(desk, order_id) == ONE_EFFECT
    assert after.deliveries - before.deliveries == 1
    assert after.dead_lettered == before.dead_lettered


async def test_the_broker_is_cut_off_between_commit_and_settlement(desk):
    """The settlement cannot be delivered; the message comes again and its marker answers."""
    before = (await desk.stack.service_bus.statistics())["orders"]
    await desk.stack.cosmos.fault(operation="Batch", partition_key="K7", when="after", hold=True, times=1)
    await send(desk, "K7")
    await desk.until_held()
    await desk.stack.service_bus.drop_connections()
    await desk.stack.cosmos.release()

    async def nobody_works() -> bool:
        return not (await desk.host.status()).in_flight

    await desk.until(nobody_works)
    await desk.expire_locks()
    await desk.until_empty()
    after = (await desk.stack.service_bus.statistics())["orders"]
    assert await effects(desk, "K7") == ONE_EFFECT
    assert (after.deliveries - before.deliveries, after.lock_expired - before.lock_expired) == (2, 1)
    assert after.completed - before.completed == 1


async def test_workers_die_again_and_again_in_a_burst(desk):
    """Thirty orders, three kills at whatever moment it is: each order once, none lost, none dead-lettered."""
    ids = [f"K8-{n}" for n in range(30)]
    for third in range(3):
        await desk.stack.cosmos.fault(operation="Batch", when="before", delay_ms=50, times=8)
        for id in ids[third::3]:
            await send(desk, id)

        async def works() -> bool:
            return (await desk.host.status()).in_flight > 0

        await desk.until(works)
        killed = await desk.kill_worker()
        await desk.host.wait_running(after=killed)
        await desk.stack.cosmos.clear_faults()
    await desk.expire_locks()
    await desk.until_empty()
    assert await asyncio.gather(*(effects(desk, id) for id in ids)) == [ONE_EFFECT] * len(ids)
    assert [letter for id in ids for letter in await desk.dead_letters("orders", f"{id}/placed")] == []
