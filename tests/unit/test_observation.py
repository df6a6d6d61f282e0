"""Transports let an invocation be seen whole: from before it is processed until it is settled or parked."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from shared.idempotency import Delivery, Event, IdempotentConsumer, InboxMarker, Parked, Reason, RetentionWindow
from shared.retail.orders import PlaceOrder, order_id_of, place_order
from shared.retail.stock import StockMovement, record_movement, sku_of
from shared.stores.memory import MemoryStore
from shared.transports import event_hubs, service_bus
from shared.transports.parking import ParkedEvent
from tests import examples
from tests.event_batches import HUB, Sent, batch, context, movement
from tests.settlement_service import client_of, serving


class Diary:
    """What was seen, in its order."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @property
    def observed(self) -> list[str]:
        return [entry for entry in self.seen if isinstance(entry, str)]

    def observe(self, consumer: str, source: str, deliveries: Sequence[Delivery]) -> AbstractContextManager[None]:
        @contextmanager
        def observing() -> Iterator[None]:
            self.seen.append(f"{consumer} of {source}: {[delivery.message_id for delivery in deliveries]}")
            try:
                yield
            finally:
                self.seen.append("over")

        return observing()

    def hook(self, event: Event) -> None:
        self.seen.append(event)


class Lot:
    """A parking lot that knows the bodies it was given, or is closed."""

    def __init__(self, diary: Diary, failure: Exception | None = None) -> None:
        self._diary = diary
        self._failure = failure
        self._known: set[bytes] = set()

    async def park(self, event: ParkedEvent) -> bool:
        if self._failure:
            raise self._failure
        self._diary.seen.append("parking")
        new = event.delivery.body not in self._known
        self._known.add(event.delivery.body)
        return new


def stream(diary: Diary, lot: Lot) -> event_hubs.StreamConsumer[Any]:
    consumer = IdempotentConsumer(
        name="record_movement",
        parse=StockMovement.from_delivery,
        partition=sku_of,
        handler=record_movement,
        store=MemoryStore(partition_property="sku"),
        placement=InboxMarker(RetentionWindow(60)),
        hook=diary.hook,
    )
    return event_hubs.StreamConsumer(HUB, consumer, lot, observe=diary.observe)


async def test_settling_a_message_is_part_of_what_is_observed() -> None:
    """A settlement that fails is told within."""
    diary = Diary()
    consumer = IdempotentConsumer(
        name="place_order",
        parse=PlaceOrder.from_delivery,
        partition=order_id_of,
        handler=place_order,
        store=MemoryStore(partition_property="orderId"),
        placement=InboxMarker(RetentionWindow(60)),
        hook=diary.hook,
    )
    subscribed = service_bus.QueueConsumer("orders", consumer, diary.observe)
    async with serving() as service, client_of(service) as settlement:
        service.locked.clear()
        await service_bus.consume(subscribed, examples.service_bus_message(), settlement)
    told = [entry if isinstance(entry, str) else type(entry).__name__ for entry in diary.seen]
    assert told == ["place_order of orders: ['1001/placed']", "DeliveryEnded", "SettlementFailed", "over"]


async def test_parking_is_part_of_what_is_observed_and_told_when_done() -> None:
    """Told once the event is durable, with the delivery and why."""
    diary = Diary()
    poison = Sent(body=b"not JSON", message_id="m-2", key="sku-1")
    await event_hubs.consume(stream(diary, Lot(diary)), batch(movement("m-1"), poison), context())
    assert diary.observed == [f"record_movement of {HUB}: ['m-1', 'm-2']", "parking", "over"]
    [event] = [entry for entry in diary.seen if isinstance(entry, Parked)]
    assert (event.consumer, event.delivery.message_id, event.reason) == ("record_movement", "m-2", Reason.MALFORMED)
    assert diary.seen.index("parking") < diary.seen.index(event) < diary.seen.index("over")


async def test_what_is_read_again_is_not_told_as_parked_again() -> None:
    """Whoever replays a stream does not wake people for events they know; one that is new among them is told."""
    diary = Diary()
    subscribed = stream(diary, Lot(diary))
    known, new = (Sent(body=body, message_id="m-2", key="sku-1") for body in (b"not JSON", b"nor this"))
    await event_hubs.consume(subscribed, batch(known), context())
    diary.seen.clear()
    await event_hubs.consume(subscribed, batch(known, new), context())
    assert diary.observed.count("parking") == 2
    assert [entry.delivery.body for entry in diary.seen if isinstance(entry, Parked)] == [b"nor this"]


async def test_what_could_not_be_parked_is_not_told_as_parked() -> None:
    """The batch comes again; observing ends all the same."""
    diary = Diary()
    poison = Sent(body=b"not JSON", message_id="m-2", key="sku-1")
    with pytest.raises(OSError, match="full"):
        await event_hubs.consume(stream(diary, Lot(diary, OSError("full"))), batch(poison), context())
    assert not [entry for entry in diary.seen if isinstance(entry, Parked)]
    assert diary.observed[-1] == "over"
