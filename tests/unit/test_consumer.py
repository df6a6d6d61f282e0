"""The flow: first deliveries, duplicates, reused ids, lost answers, lost races, outages."""

import asyncio

import pytest

from shared.idempotency import (
    CompletedMarkers,
    Conflict,
    Create,
    DeduplicationKey,
    DeliveryEnded,
    Doubtful,
    Duplicate,
    PreconditionFailed,
    Processed,
    Reason,
    Refused,
    Rejected,
    Retrying,
    Stale,
    Superseded,
    TransientFailure,
    Upsert,
)
from tests.counter import DAY, Bench, add, delivery, entity_bench

OTHER = delivery({"amount": 6})
FIVE = Processed({"total": 5})


@pytest.fixture(params=[Bench, entity_bench], ids=["inbox marker", "entity as marker"])
def bench(request) -> Bench:
    """Both placements of the marker promise the same outcomes."""
    return request.param()


@pytest.fixture
def inbox() -> Bench:
    return Bench()


async def test_a_first_delivery_costs_one_round_trip(bench):
    """Insert first: nothing is read before a new message is committed."""
    bench.store.on_read = [AssertionError("nothing may be read")] if bench.handler is not add else []
    outcome = await bench.consumer(handler=bench.handler).consume(delivery())
    assert outcome == FIVE
    assert bench.store.calls.count("commit") == 1
    assert bench.store.calls.count("read") == (
        1 if bench.handler is add else 0
    )  # the handler's own read of the account


async def test_a_duplicate_gets_the_first_result(bench):
    """The second delivery changes nothing and returns what the first one returned, and when."""
    consumer = bench.consumer()
    first_at = bench.clock.now()
    await consumer.consume(delivery())
    bench.clock.advance(60)
    assert await consumer.consume(delivery()) == Duplicate({"total": 5}, first_at)


async def test_a_redelivery_reads_before_it_runs(bench):
    """When the broker says that it delivered before, the marker is read first and nothing is committed."""
    consumer = bench.consumer()
    await consumer.consume(delivery())
    bench.store.calls.clear()
    outcome = await consumer.consume(delivery(attempt=2))
    assert isinstance(outcome, Duplicate)
    assert bench.store.calls == ["read"]


async def test_a_redelivery_of_what_was_never_committed_runs(bench):
    """A first delivery that died before its commit left nothing; the second does the work."""
    assert await bench.consumer().consume(delivery(attempt=2)) == FIVE


@pytest.mark.parametrize("attempt", [1, 2])
async def test_a_reused_id_with_other_content_is_rejected(bench, attempt):
    """Same key, other amount: a mismatch on the conflict path and on the read-first path, with both prints told."""
    consumer = bench.consumer()
    await consumer.consume(delivery())
    outcome = await consumer.consume(delivery({"amount": 6}, attempt=attempt))
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.FINGERPRINT_MISMATCH
    assert outcome.description.count("json.v1:") == 2
    assert "amount" not in outcome.description


async def test_the_cache_answers_without_the_store_and_compares_all_the_same(bench):
    """A hot duplicate costs no store call; the same key with other content is still found."""
    consumer = bench.consumer(cache=CompletedMarkers(10, DAY.duration))
    await consumer.consume(delivery())
    bench.store.calls.clear()
    assert isinstance(await consumer.consume(delivery()), Duplicate)
    outcome = await consumer.consume(OTHER)
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.FINGERPRINT_MISMATCH
    assert bench.store.calls == []


async def test_another_spelling_of_the_same_content_is_a_duplicate(bench):
    """10 and 10.0 are one amount."""
    consumer = bench.consumer()
    await consumer.consume(delivery(raw=b'{"amount":10,"note":"a"}'))
    assert isinstance(await consumer.consume(delivery(raw=b'{ "note":"a", "amount":10.0 }')), Duplicate)


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


@pytest.mark.parametrize("message_id", [None, "", "None", "null", "00000000-0000-0000-0000-000000000000"])
async def test_keyless_messages_are_never_deduplicated_together(bench, message_id):
    """Two different messages without an id are both rejected, and the store is not asked."""
    consumer = bench.consumer()
    for amount in (1, 2):
        outcome = await consumer.consume(delivery({"amount": amount}, message_id=message_id))
        assert isinstance(outcome, Rejected)
        assert outcome.reason is Reason.NO_STABLE_KEY
    assert bench.store.calls == []


async def test_a_declared_business_key_counts_whole_or_not_at_all(inbox):
    """(tenant, order) with the tenant missing is no key, not a key of its own."""
    consumer = inbox.consumer(identity=lambda d: (d.properties.get("tenant"), d.message_id))
    outcome = await consumer.consume(delivery())
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.NO_STABLE_KEY


async def test_two_consumers_of_one_message_both_run(inbox):
    """The consumer's name is part of the key."""
    for name in ("payments", "notifications"):
        assert isinstance(await inbox.consumer(name=name).consume(delivery()), Processed)
    assert await inbox.total() == 10


async def test_a_body_nobody_can_read_is_rejected(bench):
    """Malformed once, malformed for ever."""
    outcome = await bench.consumer().consume(delivery(raw=b"\x1f\x8b"))
    assert outcome == Rejected(Reason.MALFORMED, "the body is not JSON")


async def test_a_body_beyond_the_limit_is_rejected_unread(bench):
    """The size is checked before anything is parsed or hashed."""
    outcome = await bench.consumer(max_body_bytes=10).consume(delivery({"amount": 1_000_000}))
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.TOO_LARGE
    assert bench.store.calls == []


async def test_writes_beyond_the_stores_limits_are_rejected_at_once(inbox):
    """100 business operations and the marker are 101: found before sending, not after ten deliveries."""

    async def too_many(message, work):
        for n in range(100):
            work.create({"id": f"d{n}"})

    outcome = await inbox.consumer(handler=too_many).consume(delivery())
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.TOO_LARGE


async def test_a_handlers_refusal_and_a_stale_message_write_nothing(bench):
    """The business says no for good, or says that a later message has overtaken this one."""

    async def refuse(message, work):
        work.upsert({"id": "x"})
        raise Refused("the customer is blocked")

    async def overtaken(message, work):
        raise Superseded("version 7 is newer")

    assert await bench.consumer(handler=refuse).consume(delivery()) == Rejected(
        Reason.REFUSED, "the customer is blocked"
    )
    assert await bench.consumer(handler=overtaken).consume(delivery()) == Stale("version 7 is newer")
    assert await bench.memory.read("1", "x") is None


@pytest.mark.parametrize("refusal", [Refused("there is an account already"), Superseded("a newer one is there")])
async def test_a_refusal_caused_by_our_own_effects_is_a_duplicate(inbox, refusal):
    """A second copy that finds the work done and refuses it is a duplicate: its marker is looked for first."""

    async def once(message, work):
        if await work.get("account"):
            raise refusal
        return await add(message, work)

    consumer = inbox.consumer(handler=once)
    await consumer.consume(delivery())
    assert isinstance(await consumer.consume(delivery()), Duplicate)
    other = await consumer.consume(delivery(message_id="m2"))
    assert isinstance(other, Rejected | Stale)


async def test_a_programming_error_is_raised_and_writes_nothing(bench):
    """A bug is the host's to retry: never acknowledged, never rejected, never held."""

    async def broken(message, work):
        work.upsert({"id": "x"})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await bench.consumer(handler=broken).consume(delivery(), patience=60)
    assert await bench.memory.read("1", "x") is None
    assert bench.clock.slept == []
    assert await bench.consumer().consume(delivery(attempt=2)) == FIVE


async def test_a_cancelled_delivery_is_cancelled_and_told(bench):
    """A host that shuts down is not kept waiting, and what was on its way is told as not ended."""

    committing = asyncio.Event()

    async def never() -> None:
        committing.set()
        await asyncio.Event().wait()

    bench.store.on_commit = [never]
    task = asyncio.create_task(bench.consumer().consume(delivery(), patience=60))
    await committing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (ended,) = [event for event in bench.events if isinstance(event, DeliveryEnded)]
    assert isinstance(ended.error, asyncio.CancelledError)
    assert await bench.consumer().consume(delivery(attempt=2)) == FIVE


async def test_after_the_retention_window_the_promise_ends(inbox):
    """A marker that has expired is gone: the same id is a new message."""
    consumer = inbox.consumer(cache=CompletedMarkers(10, DAY.duration))
    await consumer.consume(delivery())
    inbox.clock.advance(DAY.seconds - 1)
    assert isinstance(await consumer.consume(delivery(attempt=2)), Duplicate)
    inbox.clock.advance(1)
    assert await consumer.consume(delivery(attempt=2)) == Processed({"total": 10})


async def test_business_documents_never_expire(bench):
    """Only markers carry a time to live; an entity that is its own marker stays."""
    await bench.consumer().consume(delivery())
    bench.clock.advance(10 * DAY.seconds)
    kept = "account" if bench.handler is add else "m1"
    assert await bench.memory.read("1", kept) is not None


async def test_an_entity_that_no_message_wrote_is_not_a_duplicate():
    """A document already there without a marker, or with another message's, is an identity mismatch."""
    bench = entity_bench()
    await bench.memory.commit("1", [Create("m1", {"id": "m1"})])
    outcome = await bench.consumer().consume(delivery())
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.IDENTITY_MISMATCH


async def test_an_entity_of_another_consumer_is_not_a_duplicate():
    """Two consumers that create the same entity are told apart by the key in the marker."""
    bench = entity_bench()
    await bench.consumer(name="first").consume(delivery())
    outcome = await bench.consumer(name="second").consume(delivery())
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.IDENTITY_MISMATCH


async def test_a_handler_that_does_not_create_the_entity_is_a_programming_error():
    """Without its create there would be no marker: nothing is committed."""
    bench = entity_bench()
    with pytest.raises(LookupError, match="did not create"):
        await bench.consumer(handler=add).consume(delivery())
    assert bench.store.calls == ["read"]


async def test_every_end_of_a_delivery_is_told_once(bench):
    """The hook hears outcome, key and time of a delivery, and the error when there is no outcome."""
    consumer = bench.consumer()
    await consumer.consume(delivery())
    bench.store.on_read = [TransientFailure("down")]
    with pytest.raises(TransientFailure):
        await consumer.consume(delivery(attempt=2))
    await consumer.consume(delivery(message_id=None))
    ended = [event for event in bench.events if isinstance(event, DeliveryEnded)]
    digest = DeduplicationKey.of("add", "accounts", "m1").digest
    assert [event.key for event in ended] == [digest, digest, None]
    assert [type(event.outcome) for event in ended] == [Processed, type(None), Rejected]
    assert [type(event.error) for event in ended] == [type(None), TransientFailure, type(None)]


def test_a_delivery_does_not_show_its_body():
    """What is logged by accident carries no payload."""
    assert "amount" not in repr(delivery())
