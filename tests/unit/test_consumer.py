"""The flow: first deliveries, duplicates, reused ids, expiry, and what is told of it."""

import pytest

from shared.idempotency import (
    CompletedMarkers,
    DeduplicationKey,
    DeliveryEnded,
    Duplicate,
    Processed,
    Reason,
    Rejected,
    TransientFailure,
)
from tests.counter import DAY, FIVE, add, delivery


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
    outcome = await consumer.consume(delivery({"amount": 6}))
    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.FINGERPRINT_MISMATCH
    assert bench.store.calls == []


async def test_another_spelling_of_the_same_content_is_a_duplicate(bench):
    """10 and 10.0 are one amount."""
    consumer = bench.consumer()
    await consumer.consume(delivery(raw=b'{"amount":10,"note":"a"}'))
    assert isinstance(await consumer.consume(delivery(raw=b'{ "note":"a", "amount":10.0 }')), Duplicate)


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
