"""The whole flow over Cosmos DB: whatever happens on the way, one effect and the outcome that is true."""

import asyncio
from typing import Any

import pytest

from local.cosmos import Fault, When
from shared.idempotency import (
    Conflict,
    Create,
    Duplicate,
    EntityAsMarker,
    IdempotentConsumer,
    InboxMarker,
    Processed,
    Reason,
    Rejected,
    TransientFailure,
    Upsert,
)
from tests.clock import ManualClock
from tests.counter import DAY, add, delivery, open_entity, parse

from .conftest import Database, Subject

pytestmark = pytest.mark.asyncio(loop_scope="package")

_PATIENCE = 60.0
"""Seconds on a clock that only tests move: a retry waits, and takes no time."""


def consumer(subject: Subject, **changes: Any) -> IdempotentConsumer[dict[str, Any]]:
    parts: dict[str, Any] = {
        "name": "add",
        "parse": parse,
        "partition": lambda delivery: subject.partition,
        "handler": add,
        "store": subject.store,
        "placement": InboxMarker(DAY),
        "clock": ManualClock(),
    }
    return IdempotentConsumer(**(parts | changes))


async def total(subject: Subject) -> int:
    account = await subject.store.read(subject.partition, "account")
    return account.body["total"] if account else 0


def batches(database: Database, subject: Subject) -> list[int | None]:
    return [entry.status for entry in database.requests(subject.partition, "Batch")]


async def test_a_new_message_costs_one_commit(database: Database, cosmos: Subject) -> None:
    """Marker and documents in one batch; the marker itself is never read."""

    async def only_writes(message: dict[str, Any], work: Any) -> None:
        work.create({"id": "entry", **message})

    assert await consumer(cosmos, handler=only_writes).consume(delivery()) == Processed(None)
    (entry,) = database.requests(cosmos.partition)
    assert (entry.operation, entry.operations) == ("Batch", 2)


async def test_a_second_delivery_is_a_duplicate(cosmos: Subject) -> None:
    """With the first result, whether or not the broker says that it delivered before; other content is rejected."""
    first = await consumer(cosmos).consume(delivery())
    assert first == Processed({"total": 5})
    for attempt in (1, 2):
        again = await consumer(cosmos).consume(delivery(attempt=attempt))
        assert isinstance(again, Duplicate)
        assert again.result == {"total": 5}
    other = await consumer(cosmos).consume(delivery({"amount": 7}))
    assert isinstance(other, Rejected)
    assert other.reason is Reason.FINGERPRINT_MISMATCH
    assert await total(cosmos) == 5


@pytest.mark.parametrize(
    "effect",
    [
        {"drop": True},
        {"status": 408},
        {"status": 500},
        {"status": 503},
        {"status": 503, "times": 2},
        {"status": 410},
        {"status": 429},
    ],
)
@pytest.mark.parametrize("when", list(When))
async def test_an_answer_lost_around_the_commit_leaves_one_effect(
    database: Database, cosmos: Subject, effect: dict[str, Any], when: When
) -> None:
    """Before the commit or after it: our own attempt id tells, never "somebody else's duplicate"."""
    database.server.faults.add(Fault(operation="Batch", when=when, **effect))
    outcome = await consumer(cosmos).consume(delivery(), patience=_PATIENCE)
    assert outcome == Processed({"total": 5})
    assert await total(cosmos) == 5


@pytest.mark.parametrize("status", [408, 410, 429, 449, 500, 503])
async def test_an_operation_refused_for_a_while_is_waited_out(database: Database, cosmos: Subject, status: int) -> None:
    """A marker that was throttled inside its batch is no duplicate."""
    database.server.faults.add(Fault(operation="Batch", status=status, operation_index=0, times=2))
    outcome = await consumer(cosmos).consume(delivery(), patience=_PATIENCE)
    assert outcome == Processed({"total": 5})
    assert batches(database, cosmos) == [207, 207, 200]


async def test_a_commit_that_lands_late_changes_nothing(database: Database, cosmos: Subject) -> None:
    """Given up for lost, it arrives after its own repetition, and meets the marker."""
    cosmos.store = database.store(commit_seconds=0.5)
    database.server.faults.add(Fault(operation="Batch", hold=True))
    outcome = await consumer(cosmos).consume(delivery(), patience=_PATIENCE)
    assert outcome == Processed({"total": 5})
    assert database.server.holds.release() == 1
    async with asyncio.timeout(5):
        while 207 not in batches(database, cosmos):  # noqa: ASYNC110 - the server works on, though nobody listens any more
            await asyncio.sleep(0.01)
    assert batches(database, cosmos).count(200) == 1
    assert await total(cosmos) == 5


async def test_of_many_copies_one_is_processed(cosmos: Subject) -> None:
    """Sixteen copies at the same time: one effect, and everyone else hears its result."""
    outcomes = await asyncio.gather(*(consumer(cosmos).consume(delivery(), patience=_PATIENCE) for _ in range(16)))
    assert sum(isinstance(outcome, Processed) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Duplicate) for outcome in outcomes) == 15
    assert {outcome.result["total"] for outcome in outcomes if isinstance(outcome, Processed | Duplicate)} == {5}
    assert await total(cosmos) == 5


async def test_a_lost_race_for_a_document_runs_again(database: Database, cosmos: Subject) -> None:
    """The etag of the document that was read decides; the message is processed on what is there now."""
    await cosmos.store.commit(cosmos.partition, [Upsert("account", {"total": 1})])
    database.server.faults.add(Fault(operation="Batch", hold=True))
    racing = asyncio.create_task(consumer(cosmos).consume(delivery()))
    await database.server.holds.until(1)
    await cosmos.store.commit(cosmos.partition, [Upsert("account", {"total": 2})])
    database.server.holds.release()
    assert await racing == Processed({"total": 7})
    assert await total(cosmos) == 7


async def test_a_conflict_tells_where_the_database_stood(database: Database, cosmos: Subject) -> None:
    """Its bookmark is the session token of the answer, which the SDK does not remember from a batch."""
    await cosmos.store.commit(cosmos.partition, [Create("marker", {})])
    with pytest.raises(Conflict) as refused:
        await cosmos.store.commit(cosmos.partition, [Create("marker", {})])
    item = await database.container.read_item("marker", cosmos.partition)
    assert refused.value.bookmark == item.get_response_headers()["x-ms-session-token"]


async def test_an_entity_is_its_own_marker(database: Database, cosmos: Subject) -> None:
    """One document, one create; a lost answer and a second delivery end as with a marker of its own."""
    entities = consumer(cosmos, handler=open_entity, placement=EntityAsMarker(lambda delivery: "m1"))
    database.server.faults.add(Fault(operation="Batch", drop=True, when=When.AFTER))
    assert await entities.consume(delivery(), patience=_PATIENCE) == Processed({"total": 5})
    assert isinstance(await entities.consume(delivery()), Duplicate)
    assert [entry.operations for entry in database.requests(cosmos.partition, "Batch")] == [1, 1]


async def test_after_the_retention_window_the_promise_ends(cosmos: Subject) -> None:
    """The marker is gone, the message runs anew."""
    await consumer(cosmos).consume(delivery())
    cosmos.advance(DAY.seconds - 60)
    assert isinstance(await consumer(cosmos).consume(delivery()), Duplicate)
    cosmos.advance(61)
    assert await consumer(cosmos).consume(delivery()) == Processed({"total": 10})


async def test_a_marker_that_only_our_clock_calls_expired(database: Database, cosmos: Subject) -> None:
    """Invisible whatever the database says; its create still meets it, and that is waited out, never "new"."""
    await consumer(cosmos).consume(delivery())
    database.clock.ahead += DAY.seconds
    try:
        with pytest.raises(TransientFailure, match="a read does not show it"):
            await consumer(cosmos).consume(delivery(attempt=2))
    finally:
        database.clock.ahead -= DAY.seconds
    assert isinstance(await consumer(cosmos).consume(delivery(attempt=3)), Duplicate)


async def test_an_outage_longer_than_our_patience_is_given_back(database: Database, cosmos: Subject) -> None:
    """Raised, so that the broker keeps the message; nothing is written and nothing is decided."""
    database.server.faults.add(Fault(operation="Batch", status=429, times=1000))
    with pytest.raises(TransientFailure, match="429"):
        await consumer(cosmos).consume(delivery(), patience=_PATIENCE)
    database.server.faults.clear()
    assert await consumer(cosmos).consume(delivery(attempt=2)) == Processed({"total": 5})
