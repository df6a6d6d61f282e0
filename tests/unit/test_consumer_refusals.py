"""The flow of what can never succeed, of bugs, and of what was cancelled."""

import asyncio

import pytest

from shared.idempotency import (
    Create,
    DeliveryEnded,
    Duplicate,
    Processed,
    Reason,
    Refused,
    Rejected,
    Stale,
    Superseded,
)
from tests.counter import FIVE, add, delivery, entity_bench


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
