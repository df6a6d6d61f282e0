"""A store that is opened by the first call that needs it."""

import asyncio

import pytest

from shared.idempotency import (
    Create,
    IdempotentConsumer,
    InboxMarker,
    Processed,
    RetentionWindow,
    Store,
    TransientFailure,
)
from shared.retail.orders import PlaceOrder, order_id_of, place_order
from shared.stores.late import LateStore
from shared.stores.memory import MemoryStore
from tests import examples
from tests.clock import ManualClock


class Opening:
    """Opens a memory store after some failures, and counts."""

    def __init__(self, failures: int = 0) -> None:
        self.memory = MemoryStore(partition_property="orderId")
        self.failures = failures
        self.tries = 0
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self) -> Store:
        self.tries += 1
        await self.may_end.wait()
        if self.tries <= self.failures:
            raise TransientFailure("nobody answers")
        return self.memory


async def test_it_is_opened_once_by_the_first_call() -> None:
    """Not before, and not again."""
    opening = Opening()
    store = LateStore(opening)
    assert opening.tries == 0
    await store.commit("1", [Create("a", {"id": "a"})])
    document = await store.read("1", "a")
    assert document is not None
    assert opening.tries == 1


async def test_concurrent_calls_share_one_attempt() -> None:
    """Sixteen messages at the start of a worker open one client, and fail together when it cannot be opened."""
    opening = Opening(failures=1)
    opening.may_end.clear()
    store = LateStore(opening)
    calls = [asyncio.create_task(store.read("1", "a")) for _ in range(16)]
    await asyncio.sleep(0)
    opening.may_end.set()
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(end) for end in ends} == {TransientFailure}
    assert opening.tries == 1


async def test_a_cancelled_call_does_not_cancel_the_opening() -> None:
    """Others wait for the same attempt."""
    opening = Opening()
    opening.may_end.clear()
    store = LateStore(opening)
    first, second = (asyncio.create_task(store.read("1", "a")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    opening.may_end.set()
    assert await second is None
    assert opening.tries == 1


async def test_a_failed_start_is_waited_out_by_the_consumer() -> None:
    """The message is held while the database comes up, and then processed in the same invocation."""
    opening, clock = Opening(failures=3), ManualClock()
    consumer = IdempotentConsumer(
        name="place_order",
        parse=PlaceOrder.from_delivery,
        partition=order_id_of,
        handler=place_order,
        store=LateStore(opening),
        placement=InboxMarker(RetentionWindow(60)),
        clock=clock,
        random=lambda: 0.5,
    )
    assert isinstance(await consumer.consume(examples.delivery(), patience=60), Processed)
    assert len(clock.slept) == 3


async def test_a_start_that_fails_for_good_gives_the_message_back() -> None:
    """Only when the patience has run out."""
    opening, clock = Opening(failures=1000), ManualClock()
    consumer = IdempotentConsumer(
        name="place_order",
        parse=PlaceOrder.from_delivery,
        partition=order_id_of,
        handler=place_order,
        store=LateStore(opening),
        placement=InboxMarker(RetentionWindow(60)),
        clock=clock,
        random=lambda: 0.5,
    )
    started = clock.monotonic()
    with pytest.raises(TransientFailure):
        await consumer.consume(examples.delivery(), patience=60)
    assert clock.monotonic() - started >= 50
