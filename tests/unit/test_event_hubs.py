"""A batch is processed, its poison is parked, and nothing of it is lost when that cannot be done."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from shared.idempotency import (
    AlreadyExists,
    DeliveryEnded,
    Event,
    IdempotentConsumer,
    InboxMarker,
    Reason,
    Refused,
    Rejection,
    RetentionWindow,
    Superseded,
    TransientFailure,
    UnitOfWork,
)
from shared.retail.stock import StockMovement, record_movement, sku_of
from shared.stores.memory import MemoryStore
from shared.transports.event_batch import MetadataMismatch
from shared.transports.event_hubs import PATIENCE, StreamConsumer, consume
from shared.transports.parking import ParkedEvent
from tests.clock import ManualClock
from tests.event_batches import FIRST, HUB, PARTITION, Sent, batch, context, movement, movement_body
from tests.faulty_store import FaultyStore


@dataclass
class Lot:
    """A parking lot that can be full."""

    parked: list[ParkedEvent] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    before: Callable[[], None] | None = None

    async def park(self, event: ParkedEvent) -> bool:
        if self.before:
            self.before()
        if self.failures:
            raise self.failures.pop(0)
        self.parked.append(event)
        return True


@dataclass
class Warehouse:
    """The consumer of stock movements with its parts in a test's hands."""

    lot: Lot = field(default_factory=Lot)
    clock: ManualClock = field(default_factory=ManualClock)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memory = MemoryStore(partition_property="sku", clock=self.clock)
        self.store = FaultyStore(self.memory)

    async def receive(self, *sent: Sent, retry: int = 0, **changes: Any) -> None:
        """One invocation."""
        await self.receive_events(batch(*sent), retry=retry, **changes)

    async def receive_events(self, events: Any, *, retry: int = 0, keyless: bool = False, **changes: Any) -> None:
        parts: dict[str, Any] = {
            "name": "record_movement",
            "parse": StockMovement.from_delivery,
            "partition": sku_of,
            "handler": record_movement,
            "store": self.store,
            "placement": InboxMarker(RetentionWindow(86_400)),
            "clock": self.clock,
            "hook": self.events.append,
            "random": lambda: 0.5,
        }
        subscribed = StreamConsumer(HUB, IdempotentConsumer(**parts | changes), self.lot, keyless)
        await consume(subscribed, events, context(retry))

    @property
    def outcomes(self) -> list[str]:
        return [type(event.outcome).__name__ for event in self.events if isinstance(event, DeliveryEnded)]

    async def level(self, sku: str = "sku-1") -> tuple[str, int] | None:
        document = await self.memory.read(sku, "level")
        return (document.body["sum"], document.body["count"]) if document else None


@pytest.fixture
def warehouse() -> Warehouse:
    return Warehouse()


def movements(count: int, sku: str = "sku-1") -> list[Sent]:
    """As many movements of one article, 1 each."""
    return [movement(f"m-{n}", sku, quantity=1) for n in range(count)]


async def test_a_batch_is_processed(warehouse: Warehouse) -> None:
    """Every movement counts once, and the function returns."""
    await warehouse.receive(*movements(3), *movements(2, "sku-2"))
    assert (await warehouse.level(), await warehouse.level("sku-2")) == (("3", 3), ("2", 2))
    assert warehouse.lot.parked == []


async def test_one_malformed_event_is_parked_and_the_others_are_processed(warehouse: Warehouse) -> None:
    """Event 4 of 10: with the reason, where it stood, and all that came."""
    sent = movements(10)
    sent[3] = Sent(body=b"\xff", message_id="m-3", key="sku-1", properties={"tenant": "a"})
    await warehouse.receive(*sent)
    assert await warehouse.level() == ("9", 9)
    [parked] = warehouse.lot.parked
    assert (parked.consumer, parked.reason) == ("record_movement", Reason.MALFORMED)
    assert "UTF-8" in parked.description
    assert (parked.position.hub, parked.position.partition) == (HUB, PARTITION)
    assert (parked.position.sequence_number, parked.position.part) == (FIRST + 3, 0)
    assert (parked.delivery.body, parked.delivery.message_id) == (b"\xff", "m-3")
    assert parked.delivery.properties == {"tenant": "a"}


@pytest.mark.parametrize(
    ("reason", "poison"),
    [
        (Reason.NO_STABLE_KEY, Sent(body=movement_body("p"), key="sku-1")),
        (Reason.NO_STABLE_KEY, Sent(body=movement_body("p"), key="sku-1", message_id="None")),
        (Reason.NO_STABLE_KEY, Sent(body=movement_body("p"), message_id="p")),
        (Reason.MALFORMED, Sent(body=b"{}", message_id="p", key="sku-1")),
        (Reason.IDENTITY_MISMATCH, Sent(body=movement_body("other"), message_id="p", key="sku-1")),
        (Reason.IDENTITY_MISMATCH, Sent(body=movement_body("p", "sku-2"), message_id="p", key="sku-1")),
        (Reason.FINGERPRINT_MISMATCH, movement("m-0", quantity=99)),
        (Reason.TOO_LARGE, Sent(body=b" " * 1_000_000, message_id="p", key="sku-1")),
    ],
)
async def test_every_kind_of_poison_is_parked_for_its_reason(
    warehouse: Warehouse, reason: Reason, poison: Sent
) -> None:
    """And the events around it are processed."""
    await warehouse.receive(movement("m-0", quantity=1), poison, movement("m-1", quantity=1))
    assert [parked.reason for parked in warehouse.lot.parked] == [reason]
    assert warehouse.lot.parked[0].delivery.body == poison.body
    assert await warehouse.level() == ("2", 2)


@pytest.mark.parametrize("refusal", [Refused("the warehouse is closed"), AlreadyExists("somebody was faster")])
async def test_what_a_handler_refuses_is_parked(warehouse: Warehouse, refusal: Rejection) -> None:
    """The business says no for good: the event waits for a person, and its neighbours are processed."""

    async def choosy(message: StockMovement, work: UnitOfWork) -> Any:
        if message.movement_id == "m-1":
            raise refusal
        return await record_movement(message, work)

    await warehouse.receive(*movements(3), handler=choosy)
    [parked] = warehouse.lot.parked
    assert (parked.reason, parked.description) == (refusal.reason, refusal.description)
    assert parked.delivery.message_id == "m-1"
    assert await warehouse.level() == ("2", 2)


async def test_a_stale_event_is_done_and_not_parked(warehouse: Warehouse) -> None:
    """Overtaken by a later one: nothing is written, and nobody has to look at it."""

    async def overtaken(message: StockMovement, work: UnitOfWork) -> Any:
        raise Superseded("a later count is there")

    await warehouse.receive(*movements(2), handler=overtaken)
    assert warehouse.outcomes == ["Stale", "Stale"]
    assert warehouse.lot.parked == []


async def test_events_without_ids_are_never_taken_for_each_other(warehouse: Warehouse) -> None:
    """Both are parked, each in its own place."""
    await warehouse.receive(Sent(body=movement_body("a"), key="sku-1"), Sent(body=movement_body("b"), key="sku-1"))
    assert [parked.position.sequence_number for parked in warehouse.lot.parked] == [FIRST, FIRST + 1]


async def test_where_keyless_events_are_declared_each_is_processed_once(warehouse: Warehouse) -> None:
    """By their position: read again they are duplicates."""

    async def count(delivery: Any, work: Any) -> None:
        level = await work.get("level") or {"id": "level", "type": "level", "sku": "sku-1", "count": 0, "sum": ""}
        work.upsert(level | {"count": level["count"] + 1})

    for _ in range(2):
        await warehouse.receive(
            Sent(key="sku-1"), Sent(key="sku-1"), keyless=True, parse=lambda delivery: delivery, handler=count
        )
    assert warehouse.outcomes == ["Processed", "Processed", "Duplicate", "Duplicate"]
    assert await warehouse.level() == ("", 2)


async def test_an_id_repeated_within_the_batch_has_one_effect(warehouse: Warehouse) -> None:
    """a, b, a."""
    a, b = movements(2)
    await warehouse.receive(a, b, a)
    assert warehouse.outcomes == ["Processed", "Processed", "Duplicate"]
    assert await warehouse.level() == ("2", 2)


async def test_a_batch_that_is_read_again_is_one_of_duplicates(warehouse: Warehouse) -> None:
    """From an old checkpoint the trigger does not know that it was here before; the markers do."""
    for _ in range(2):
        await warehouse.receive(*movements(5))
    assert warehouse.outcomes == ["Processed"] * 5 + ["Duplicate"] * 5
    assert await warehouse.level() == ("5", 5)


async def test_a_retried_batch_reads_before_it_tries(warehouse: Warehouse) -> None:
    """The retry count says that markers are likely: they are read, and no commit is wasted on them."""
    await warehouse.receive(*movements(3))
    warehouse.store.calls.clear()
    await warehouse.receive(*movements(3), retry=1)
    assert warehouse.store.calls == ["read_many"]


async def test_nothing_is_parked_before_every_outcome_is_known(warehouse: Warehouse) -> None:
    """A batch that will come again parks nothing: whether the poison stays poison is known at the end."""
    warehouse.store.on_commit = [TransientFailure("503")] * 1000
    with pytest.raises(TransientFailure):
        await warehouse.receive(Sent(body=b"", message_id="p", key="sku-2"), *movements(2))
    assert warehouse.lot.parked == []


async def test_an_outage_is_left_to_the_retry_policy_after_a_while(warehouse: Warehouse) -> None:
    """Waiting inside the invocation has an end, and nothing is lost by it."""
    warehouse.store.on_commit = [TransientFailure("503")] * 1000
    started = warehouse.clock.monotonic()
    with pytest.raises(TransientFailure):
        await warehouse.receive(*movements(2))
    assert PATIENCE - 10 <= warehouse.clock.monotonic() - started <= PATIENCE
    warehouse.store.on_commit.clear()
    await warehouse.receive(*movements(2), retry=1)
    assert await warehouse.level() == ("2", 2)


async def test_poison_that_cannot_be_parked_fails_the_batch(warehouse: Warehouse) -> None:
    """Returning would move the checkpoint past it. The retry finds the others done and parks it."""
    poison = Sent(body=b"", message_id="p", key="sku-1")
    warehouse.lot.failures = [TransientFailure("storage is down")]
    with pytest.raises(TransientFailure, match="storage is down"):
        await warehouse.receive(poison, *movements(2))
    await warehouse.receive(poison, *movements(2), retry=1)
    assert await warehouse.level() == ("2", 2)
    assert [parked.delivery.message_id for parked in warehouse.lot.parked] == ["p"]


async def test_good_events_are_committed_before_poison_is_parked(warehouse: Warehouse) -> None:
    """A worker that dies while it parks leaves work that is done."""
    seen: list[int] = []
    warehouse.lot.before = lambda: seen.append(warehouse.store.calls.count("commit"))
    await warehouse.receive(Sent(body=b"", message_id="p", key="sku-1"), *movements(2))
    assert seen == [1]


async def test_a_failing_handler_fails_the_batch_and_parks_nothing(warehouse: Warehouse) -> None:
    """A bug is no poison: the partition waits for a version without it."""

    async def broken(movement: StockMovement, work: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await warehouse.receive(*movements(2), handler=broken)
    assert warehouse.lot.parked == []


async def test_a_batch_that_the_host_describes_badly_is_not_touched(warehouse: Warehouse) -> None:
    """Nothing is processed under somebody else's properties."""
    with pytest.raises(MetadataMismatch):
        await warehouse.receive_events(batch(*movements(2), PropertiesArray=[{}]))
    assert warehouse.store.calls == []
