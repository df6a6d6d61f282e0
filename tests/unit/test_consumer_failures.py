"""The flow under lost answers, outages, conflicts and lost races."""

import asyncio

import pytest

from shared.idempotency import (
    Conflict,
    Doubtful,
    Duplicate,
    PreconditionFailed,
    Processed,
    Reason,
    Rejected,
    Retrying,
    TransientFailure,
    Upsert,
)
from tests.counter import FIVE, add, delivery


async def test_an_answer_lost_after_the_commit_is_recognised_as_our_own(bench):
    """The attempt id in the marker says that it was us: processed, not duplicate, and not run again."""
    bench.store.on_commit = ["lose the answer"]
    assert await bench.consumer().consume(delivery(), patience=60) == FIVE
    assert bench.store.calls.count("commit") == 1


async def test_a_conflict_with_our_own_silently_resent_commit_is_our_own(bench):
    """A client that re-sends after a broken connection meets its own marker: still processed."""

    async def commit_behind_our_back() -> None:
        operations = recorded.pop()
        await bench.memory.commit("1", operations)

    recorded: list = []
    plain_commit = bench.store.commit

    async def commit(partition, operations):
        recorded.append(operations)
        await plain_commit(partition, operations)

    bench.store.commit = commit
    bench.store.on_commit = [commit_behind_our_back]
    assert await bench.consumer().consume(delivery()) == FIVE


async def test_a_doubtful_commit_that_never_happened_is_committed_again(bench):
    """When the marker is not there after a lost answer, the work is done again, and once."""
    bench.store.on_commit = [Doubtful("no answer")]
    assert await bench.consumer().consume(delivery(), patience=60) == FIVE
    assert bench.store.calls.count("commit") == 2


async def test_a_lost_commit_that_lands_late_is_still_our_own(bench):
    """The first commit arrives after we looked for it: the second meets it and knows its attempt id."""
    landed: list = []
    plain_commit = bench.store.commit

    async def commit(partition, operations):
        if not landed:
            landed.append(operations)
            raise Doubtful("no answer yet")
        if len(landed) == 1:
            landed.append(await bench.memory.commit(partition, landed[0]))
        await plain_commit(partition, operations)

    bench.store.commit = commit
    assert await bench.consumer().consume(delivery(), patience=60) == FIVE


@pytest.mark.parametrize("times", [1, 3])
async def test_an_outage_is_waited_out_inside_the_delivery(bench, times):
    """Throttling and unavailability are neither a duplicate nor a rejection: the delivery is held, then processed."""
    bench.store.on_commit = [TransientFailure("throttled") for _ in range(times)]
    assert await bench.consumer().consume(delivery(), patience=60) == FIVE
    assert len(bench.clock.slept) == times
    assert sum(isinstance(event, Retrying) for event in bench.events) == times


async def test_an_outage_longer_than_our_patience_is_given_back(bench):
    """When the deadline comes first the failure is raised, the time waited stays under it, and nothing is written."""
    bench.store.on_commit = [TransientFailure("down")] * 1000
    with pytest.raises(TransientFailure, match="down"):
        await bench.consumer().consume(delivery(), patience=60)
    assert 30 < sum(bench.clock.slept) < 60
    bench.store.on_commit = []
    assert await bench.consumer().consume(delivery(attempt=2)) == FIVE


async def test_without_patience_a_transient_failure_is_raised_at_once(bench):
    """Zero seconds are a value: no waiting at all."""
    bench.store.on_commit = [TransientFailure("throttled")]
    with pytest.raises(TransientFailure):
        await bench.consumer().consume(delivery(), patience=0)
    assert bench.clock.slept == []


async def test_the_store_says_how_long_to_wait(bench):
    """A retry-after longer than our own delay is respected."""
    bench.store.on_commit = [TransientFailure("throttled", retry_after=7.5)]
    await bench.consumer().consume(delivery(), patience=60)
    assert bench.clock.slept == [7.5]


async def test_a_marker_promised_but_not_found_is_never_new(bench):
    """A conflict on the marker that a read cannot see yet is waited out, then compared; nothing runs twice."""
    consumer = bench.consumer()
    await consumer.consume(delivery())
    plain_read = bench.store.read
    blind = iter([True, False])

    async def read(partition, id, *, bookmark=None):
        found = await plain_read(partition, id, bookmark=bookmark)
        return None if id != "account" and next(blind) else found

    bench.store.read = read
    assert isinstance(await consumer.consume(delivery(), patience=60), Duplicate)


async def test_a_marker_promised_and_never_found_is_transient(bench):
    """If it stays invisible the delivery is given back; it is not processed and not called a duplicate."""
    consumer = bench.consumer()
    await consumer.consume(delivery())

    async def read(partition, id, *, bookmark=None):
        return await bench.memory.read(partition, id) if id == "account" else None

    bench.store.read = read
    with pytest.raises(TransientFailure, match="promised"):
        await consumer.consume(delivery(), patience=5)


async def test_the_read_after_a_conflict_carries_its_bookmark(bench):
    """The store is asked to show at least what refused us."""
    consumer = bench.consumer()
    await consumer.consume(delivery())
    bench.store.bookmarks.clear()
    bench.store.on_commit = [Conflict("there", index=0, bookmark="lsn 7")]
    await consumer.consume(delivery())
    assert bench.store.bookmarks[-1] == "lsn 7"


@pytest.mark.parametrize("lost", [PreconditionFailed("etag", index=1), Conflict("there", index=2)])
async def test_a_conflict_on_a_business_document_runs_the_handler_again(inbox, lost):
    """Marker accepted, document refused: that is concurrency, not a duplicate; the handler sees fresh state."""
    await inbox.consumer().consume(delivery(message_id="m0"))

    async def somebody_else_adds() -> None:
        await inbox.memory.commit("1", [Upsert("account", {"id": "account", "total": 100})])
        raise lost

    inbox.store.on_commit = [somebody_else_adds]
    assert await inbox.consumer().consume(delivery()) == Processed({"total": 105})
    assert await inbox.total() == 105


async def test_contention_is_bounded_and_then_waits_like_an_outage(inbox):
    """Endless lost races end in a transient failure after a bounded number of quick runs, never in a rejection."""
    inbox.store.on_commit = [PreconditionFailed("etag", index=1)] * 1000
    runs = 0

    async def counting(message, work):
        nonlocal runs
        runs += 1
        return await add(message, work)

    with pytest.raises(TransientFailure, match="Lost 6 races") as raised:
        await inbox.consumer(handler=counting).consume(delivery(), patience=0)
    assert isinstance(raised.value.__cause__, PreconditionFailed)
    assert runs == 6


async def test_a_run_after_a_lost_race_sees_what_it_lost_to(inbox):
    """The handler's reads carry the bookmark of the conflict: a lagging replica cannot show it the old state."""
    inbox.store.on_commit = [PreconditionFailed("etag", index=1, bookmark="lsn 9")]
    await inbox.consumer().consume(delivery())
    assert inbox.store.bookmarks == [None, "lsn 9"]


async def test_a_document_that_another_message_created_is_rejected(inbox):
    """A handler that creates without looking meets the same document every time: for a person, not for ever."""

    async def blind(message, work):
        work.create({"id": "order"})

    consumer = inbox.consumer(handler=blind)
    await consumer.consume(delivery(message_id="m1"))
    outcome = await consumer.consume(delivery(message_id="m2"), patience=60)
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.ALREADY_EXISTS
    assert isinstance(await consumer.consume(delivery(message_id="m1"), patience=60), Duplicate)


async def test_contention_that_ends_within_our_patience_is_processed(inbox):
    """Held like an outage, then done."""
    inbox.store.on_commit = [PreconditionFailed("etag", index=1)] * 8
    assert await inbox.consumer().consume(delivery(), patience=60) == FIVE


@pytest.mark.parametrize("copies", [2, 16])
async def test_copies_that_run_at_the_same_time_have_one_effect(bench, copies):
    """Two instances, or two copies of a message: one is processed, all the others are duplicates."""
    consumer = bench.consumer()
    outcomes = await asyncio.gather(*(consumer.consume(delivery(), patience=60) for _ in range(copies)))
    assert sum(isinstance(outcome, Processed) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Duplicate) for outcome in outcomes) == copies - 1
    if bench.handler is add:
        assert await bench.total() == 5


async def test_different_messages_on_one_account_are_all_processed(inbox):
    """Etags serialise them: nothing is lost under contention."""
    consumer = inbox.consumer()
    messages = [delivery(message_id=f"m{n}") for n in range(8)]
    outcomes = await asyncio.gather(*(consumer.consume(message, patience=60) for message in messages))
    assert all(isinstance(outcome, Processed) for outcome in outcomes)
    assert await inbox.total() == 40
