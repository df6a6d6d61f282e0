"""Faults and holds, and what the real SDK makes of them."""

import asyncio
from typing import Any

import pytest
from azure.cosmos.aio import ContainerProxy

from local.cosmos import Cosmos, Fault, When

from .outcomes import OK, ORDER, BatchRefused, Refused, create, document, ids, outcome

MARKER = [create("marker"), create("a")]


def statuses(cosmos: Cosmos) -> list[int | None]:
    return [entry.status for entry in cosmos.requests.entries("orders", "Batch")]


async def test_throttling_is_retried_by_the_sdk(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """429 with a wait: the SDK tries again, and the batch is written once."""
    cosmos.faults.add(Fault(operation="Batch", times=2, status=429, substatus=3200, retry_after_ms=5))
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == OK
    assert statuses(cosmos) == [429, 429, 200]


@pytest.mark.parametrize("status", [408, 410, 449, 500])
async def test_statuses_that_reach_the_caller(cosmos: Cosmos, orders: ContainerProxy, status: int) -> None:
    """The SDK does not retry these for a batch; nothing was written."""
    cosmos.faults.add(Fault(operation="Batch", times=1, status=status))
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == Refused(status)
    assert await ids(orders) == []
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == OK


async def test_unavailable_is_sent_again_even_for_writes(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """After 503 the SDK re-sends the batch."""
    cosmos.faults.add(Fault(operation="Batch", status=503))
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == OK
    assert statuses(cosmos) == [503, 200]


async def test_a_503_after_the_commit_meets_its_own_marker(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """The work was done, the answer denied it: the re-send conflicts with what the first one wrote."""
    cosmos.faults.add(Fault(operation="Batch", status=503, when=When.AFTER))
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == BatchRefused(0, (409, 424))
    assert await ids(orders) == ["a", "marker"]


async def test_commit_and_drop_the_answer(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """The batch is kept, the connection cut: the SDK re-sends silently and is told of a conflict with itself."""
    cosmos.faults.add(Fault(operation="Batch", drop=True, when=When.AFTER))
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == BatchRefused(0, (409, 424))
    assert await ids(orders) == ["a", "marker"]
    first, second = cosmos.requests.entries("orders", "Batch")
    assert (first.status, first.answered) == (200, False)
    assert (second.status, second.answered) == (207, True)


async def test_drop_before_the_commit(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """A connection cut before anything happened leaves the re-send to do the work."""
    cosmos.faults.add(Fault(operation="Batch", drop=True))
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == OK
    assert statuses(cosmos) == [None, 200]


@pytest.mark.parametrize("index", [0, 1])
async def test_one_operation_refused_inside_a_207(cosmos: Cosmos, orders: ContainerProxy, index: int) -> None:
    """A 429 of one operation is not retried by the SDK; the others are 424 and nothing is written."""
    cosmos.faults.add(Fault(operation="Batch", status=429, operation_index=index))
    codes = tuple(429 if position == index else 424 for position in range(2))
    assert await outcome(orders.execute_item_batch(MARKER, ORDER)) == BatchRefused(index, codes)
    assert await ids(orders) == []
    assert statuses(cosmos) == [207]


async def test_a_fault_strikes_only_what_it_names(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """Operation, container and partition key are conditions; other requests pass and do not use the fault up."""
    cosmos.faults.add(Fault(operation="Create", container="orders", partition_key="1001", status=449))
    assert await outcome(orders.create_item(document("a", "1002"))) == OK
    assert await outcome(orders.upsert_item(document("b"))) == OK
    assert await outcome(orders.create_item(document("a"))) == Refused(449)
    assert await outcome(orders.create_item(document("a"))) == OK
    assert cosmos.faults.pending() == []


async def test_a_delay(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """A delayed request is carried out all the same."""
    cosmos.faults.add(Fault(operation="Create", delay_ms=50))
    started = asyncio.get_running_loop().time()
    await orders.create_item(document("a"))
    assert asyncio.get_running_loop().time() - started >= 0.05


async def test_held_before_the_commit(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """While it is held nothing of the batch is there; released, all of it is."""
    cosmos.faults.add(Fault(operation="Batch", hold=True))
    batch = asyncio.create_task(outcome(orders.execute_item_batch(MARKER, ORDER)))
    (held,) = await cosmos.holds.until(1)
    assert (held.request.operation, held.request.partition_key, held.when) == ("Batch", [ORDER], When.BEFORE)
    assert await ids(orders) == []
    assert cosmos.holds.release() == 1
    assert await batch == OK
    assert await ids(orders) == ["a", "marker"]


async def test_held_after_the_commit(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """While its answer is held the batch is there for everybody else."""
    cosmos.faults.add(Fault(operation="Batch", hold=True, when=When.AFTER))
    batch = asyncio.create_task(outcome(orders.execute_item_batch(MARKER, ORDER)))
    (held,) = await cosmos.holds.until(1)
    assert await ids(orders) == ["a", "marker"]
    assert not batch.done()
    assert cosmos.holds.release(held.n + 1) == 0
    assert cosmos.holds.release(held.n) == 1
    assert await batch == OK


async def test_a_held_request_of_a_client_that_left_still_commits(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """The service does not notice that nobody waits any more: the write happens late."""
    cosmos.faults.add(Fault(operation="Batch", hold=True))
    batch = asyncio.create_task(orders.execute_item_batch(MARKER, ORDER))
    await cosmos.holds.until(1)
    batch.cancel()
    await asyncio.gather(batch, return_exceptions=True)
    cosmos.holds.release()
    assert await ids(orders) == ["a", "marker"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"status": 200},
        {"status": "429"},
        {"status": 429, "drop": True},
        {"status": 429, "tims": 2},
        {"status": 429, "times": 0},
        {"status": 429, "when": "later"},
        {"operation_index": 0},
        {"operation_index": 0, "status": 429, "operation": "Read"},
        {"operation_index": 0, "status": 429, "when": "after"},
        {"delay_ms": -1},
        {"retry_after_ms": 5, "drop": True},
    ],
)
def test_faults_that_would_not_do_what_they_say_are_refused(body: Any) -> None:
    """A misspelt or contradictory fault is an error, not a fault that never strikes."""
    with pytest.raises(ValueError, match=r".+"):
        Fault.of(body)


@pytest.mark.parametrize("delay", [50, 50.0])
def test_whole_and_broken_delays_are_both_numbers(delay: float) -> None:
    """JSON writes 50 for 50.0."""
    assert Fault.of({"delay_ms": delay, "when": "after"}) == Fault(delay_ms=50, when=When.AFTER)
