"""From a Service Bus message to its settlement."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from shared.idempotency import (
    DeliveryEnded,
    Event,
    IdempotentConsumer,
    InboxMarker,
    RetentionWindow,
    SettlementFailed,
    Superseded,
    TransientFailure,
)
from shared.retail.orders import PlaceOrder, order_id_of, place_order
from shared.stores.memory import MemoryStore
from shared.transports.service_bus import PATIENCE, QueueConsumer, consume
from shared.transports.settlement import Settlement
from tests import examples
from tests.clock import ManualClock
from tests.faulty_store import FaultyStore
from tests.settlement_service import SettlementService, client_of, serving


@dataclass
class Shop:
    """The consumer of placed orders with its parts in a test's hands."""

    service: SettlementService
    settlement: Settlement
    clock: ManualClock = field(default_factory=ManualClock)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memory = MemoryStore(partition_property="orderId", clock=self.clock)
        self.store = FaultyStore(self.memory)

    async def receive(self, message: Any = None, **changes: Any) -> None:
        """One invocation."""
        parts: dict[str, Any] = {
            "name": "place_order",
            "parse": PlaceOrder.from_delivery,
            "partition": order_id_of,
            "handler": place_order,
            "store": self.store,
            "placement": InboxMarker(RetentionWindow(86_400)),
            "clock": self.clock,
            "hook": self.events.append,
            "random": lambda: 0.5,
        }
        subscribed = QueueConsumer("orders", IdempotentConsumer(**parts | changes))
        await consume(subscribed, message or examples.service_bus_message(), self.settlement)

    def lock_again(self) -> None:
        """The next delivery is locked under the same token."""
        self.service.locked.add(examples.LOCK_TOKEN)

    @property
    def outcomes(self) -> list[str]:
        return [type(event.outcome).__name__ for event in self.events if isinstance(event, DeliveryEnded)]

    @property
    def failed_settlements(self) -> list[SettlementFailed]:
        return [event for event in self.events if isinstance(event, SettlementFailed)]


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    async with serving() as service, client_of(service, deadline=5.0) as settlement:
        yield Shop(service, settlement)


async def test_a_processed_message_is_completed(shop: Shop) -> None:
    """The documents are there and the message is gone from the queue."""
    await shop.receive()
    assert shop.service.settled == [("complete",)]
    assert await shop.memory.read("1001", "1001")


async def test_a_duplicate_is_completed(shop: Shop) -> None:
    """A second delivery is answered by the marker and removed from the queue like the first."""
    await shop.receive()
    shop.lock_again()
    await shop.receive(examples.service_bus_message(delivery_count=2))
    assert shop.outcomes == ["Processed", "Duplicate"]
    assert shop.service.settled == [("complete",), ("complete",)]


async def test_a_stale_message_is_completed(shop: Shop) -> None:
    """What a later message has overtaken needs nobody's attention."""

    async def overtaken(order: PlaceOrder, work: Any) -> None:
        raise Superseded("order 1001 was cancelled")

    await shop.receive(handler=overtaken)
    assert shop.outcomes == ["Stale"]
    assert shop.service.settled == [("complete",)]


async def test_a_malformed_message_is_dead_lettered_at_once(shop: Shop) -> None:
    """The first delivery ends in the dead-letter queue with the place of the fault and nothing of the content."""
    await shop.receive(examples.service_bus_message(examples.place_order_body(currency="secret")))
    [(settlement, reason, description)] = shop.service.settled
    assert (settlement, reason) == ("dead_letter", "Malformed")
    assert "currency" in description
    assert "secret" not in description


async def test_a_reused_id_is_dead_lettered_with_both_hashes(shop: Shop) -> None:
    """The description lets a person compare what was processed with what came; neither body is in it."""
    await shop.receive()
    shop.lock_again()
    await shop.receive(examples.service_bus_message(examples.place_order_body(customerId="somebody-else")))
    _, reason, description = shop.service.settled[-1]
    assert reason == "FingerprintMismatch"
    assert len(re.findall(r"json\.v1:[0-9a-f]{64}", description)) == 2
    assert "somebody-else" not in description


@pytest.mark.parametrize("id", [None, "", "None", "null", "00000000-0000-0000-0000-000000000000"])
async def test_messages_without_an_id_are_dead_lettered_and_never_taken_for_each_other(shop: Shop, id: Any) -> None:
    """A JSON null that became the text 'None', or a zero GUID, is no id: both are rejected, neither is lost."""
    for order_id in ("1001", "1002"):
        await shop.receive(examples.service_bus_message(examples.place_order_body(order_id), message_id=id))
        shop.lock_again()
    assert [settled[:2] for settled in shop.service.settled] == [("dead_letter", "NoStableKey")] * 2


async def test_an_order_under_another_orders_id_is_dead_lettered(shop: Shop) -> None:
    """Message id and body name two orders: processing either could go to the wrong partition."""
    await shop.receive(examples.service_bus_message(examples.place_order_body("1002")))
    assert shop.service.settled[0][:2] == ("dead_letter", "IdentityMismatch")
    assert await shop.memory.read("1002", "1002") is None


async def test_a_failing_handler_leaves_the_message_to_the_host(shop: Shop) -> None:
    """An exception travels to the host, which gives the message back; nothing is settled here."""

    async def broken(order: PlaceOrder, work: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shop.receive(handler=broken)
    assert shop.service.settled == []


async def test_an_outage_is_waited_out_within_the_lock(shop: Shop) -> None:
    """A store that stays down holds the message for as long as the patience lasts, and then it is given back."""

    async def down() -> None:
        raise TransientFailure("503")

    shop.store.on_commit = [down] * 1000
    started = shop.clock.monotonic()
    with pytest.raises(TransientFailure):
        await shop.receive()
    held = shop.clock.monotonic() - started
    assert PATIENCE - 10 <= held <= PATIENCE
    assert shop.service.settled == []


async def test_a_completion_that_fails_is_told_and_not_raised(shop: Shop) -> None:
    """The work is committed: failing the invocation would not undo it, and the marker absorbs the next delivery."""
    shop.service.locked.clear()
    await shop.receive()
    [failure] = shop.failed_settlements
    assert (failure.source, failure.message_id, failure.settlement) == ("orders", "1001/placed", "complete")
    shop.lock_again()
    await shop.receive(examples.service_bus_message(delivery_count=2))
    assert shop.outcomes == ["Processed", "Duplicate"]
    assert shop.service.settled == [("complete",)]


async def test_a_dead_lettering_that_fails_is_told_and_not_raised(shop: Shop) -> None:
    """The message stays locked until its lock expires, and the next delivery is rejected the same way."""
    shop.service.locked.clear()
    await shop.receive(examples.service_bus_message(b"{}"))
    [failure] = shop.failed_settlements
    assert failure.settlement == "dead_letter"


async def test_a_message_without_a_lock_cannot_be_settled(shop: Shop) -> None:
    """Without a lock token the host refuses, and that is reported like every settlement that fails."""
    await shop.receive(examples.service_bus_message(lock_token=None))
    assert len(shop.failed_settlements) == 1


def event(order_id: str, body: bytes | None = None) -> str:
    """A CloudEvent that places an order."""
    return examples.cloud_event_text((body or examples.place_order_body(order_id)).decode(), id=f"{order_id}/placed")


async def test_a_batch_of_events_is_one_delivery_each(shop: Shop) -> None:
    """Every event of a batch is processed under its own identity, and the message is completed once."""
    batch = f"[{event('1001')}, {event('1002')}, {event('1003')}]".encode()
    await shop.receive(examples.service_bus_message(batch, message_id="batch-1"))
    assert shop.outcomes == ["Processed"] * 3
    assert shop.service.settled == [("complete",)]
    assert await shop.memory.read("1003", "1003")


async def test_an_event_that_is_twice_in_a_batch_has_one_effect(shop: Shop) -> None:
    """Duplicates inside one message are duplicates all the same."""
    batch = f"[{event('1001')}, {event('1002')}, {event('1001')}]".encode()
    await shop.receive(examples.service_bus_message(batch, message_id="batch-1"))
    assert shop.outcomes == ["Processed", "Processed", "Duplicate"]


async def test_a_batch_with_a_rejected_event_is_dead_lettered_after_the_others_are_done(shop: Shop) -> None:
    """Nothing is lost: the good events are processed, and the message waits for a person who fixes the bad one."""
    batch = f"[{event('1001')}, {event('1002', b'{}')}, {event('1003')}]".encode()
    await shop.receive(examples.service_bus_message(batch, message_id="batch-1"))
    assert shop.outcomes == ["Processed", "Rejected", "Processed"]
    [(settlement, reason, description)] = shop.service.settled
    assert (settlement, reason) == ("dead_letter", "Malformed")
    assert description.startswith("Event 2 of 3: ")


async def test_the_events_of_a_batch_share_one_patience(shop: Shop) -> None:
    """What the first event waited is gone for the second: the lock is renewed once for all."""

    async def slow_store() -> None:
        shop.clock.advance(PATIENCE)

    async def down() -> None:
        raise TransientFailure("503")

    shop.store.on_commit = [slow_store, down]
    with pytest.raises(TransientFailure):
        await shop.receive(examples.service_bus_message(f"[{event('1001')}, {event('1002')}]".encode()))
    assert shop.clock.slept == []
