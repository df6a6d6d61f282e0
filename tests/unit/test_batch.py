"""Many deliveries at once: the same outcomes as one by one, in fewer requests."""

import pytest

from shared.idempotency import (
    Duplicate,
    Processed,
    Reason,
    Refused,
    Rejected,
    Stale,
    Superseded,
)
from tests.counter import Bench, add, delivery, kinds, many


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_one_partition_is_one_commit(bench):
    """Ten events of one account: the handler's one read, one commit, and every marker is there."""
    outcomes = await bench.consumer().consume_all(many(10))
    assert kinds(outcomes) == [Processed] * 10
    assert bench.store.calls == ["read", "commit"]
    assert await bench.total() == 10
    assert kinds(await bench.consumer().consume_all(many(10))) == [Duplicate] * 10


async def test_each_event_sees_what_those_before_it_staged(bench):
    """Results are those of one pass in order."""
    outcomes = await bench.consumer().consume_all(many(4))
    assert [outcome.result["total"] for outcome in outcomes] == [1, 2, 3, 4]


async def test_partitions_are_settled_side_by_side_and_outcomes_keep_their_order(bench):
    """Events of three accounts, interleaved: one commit each, outcomes where their deliveries were."""
    mixed = [event for trio in zip(*(many(5, account=a) for a in "abc"), strict=True) for event in trio]
    outcomes = await bench.consumer().consume_all(mixed)
    assert [outcome.result["total"] for outcome in outcomes] == [n for n in range(1, 6) for _ in "abc"]
    assert bench.store.calls.count("commit") == 3


async def test_no_delivery_is_no_outcome(bench):
    """An empty batch asks nobody anything."""
    assert await bench.consumer().consume_all([]) == []
    assert bench.store.calls == []


async def test_an_id_repeated_in_a_batch_has_one_effect(bench):
    """a, b, a: the second a is a duplicate of the first; with other content it is a mismatch."""
    a, b = many(2)
    other = delivery({"amount": 99}, message_id="1-0")
    outcomes = await bench.consumer().consume_all([a, b, a, other])
    assert kinds(outcomes) == [Processed, Processed, Duplicate, Rejected]
    assert outcomes[3].reason is Reason.FINGERPRINT_MISMATCH
    assert outcomes[2].result == outcomes[0].result
    assert await bench.total() == 2


async def test_a_replayed_batch_is_classified_in_one_request(bench):
    """All of it done before: one refused commit, one request for the markers, nothing written."""
    await bench.consumer().consume_all(many(20))
    bench.store.calls.clear()
    outcomes = await bench.consumer().consume_all(many(20))
    assert kinds(outcomes) == [Duplicate] * 20
    assert bench.store.calls == ["read", "commit", "read_many"]
    assert await bench.total() == 20


async def test_a_retried_batch_reads_before_it_runs(bench):
    """When the trigger says that it retries, the markers are read first."""
    await bench.consumer().consume_all(many(20))
    bench.store.calls.clear()
    await bench.consumer().consume_all(many(20, attempt=2))
    assert bench.store.calls == ["read_many"]


@pytest.mark.parametrize("attempt", [1, 2])
async def test_a_replayed_batch_larger_than_a_request_is_classified_in_parts(bench, attempt):
    """250 events of one account, all done before: every one a duplicate, whatever one request can ask for."""
    await bench.consumer().consume_all(many(250))
    assert kinds(await bench.consumer().consume_all(many(250, attempt=attempt))) == [Duplicate] * 250
    assert await bench.total() == 250


async def test_a_batch_that_is_partly_done_finishes_the_rest_on_fresh_state(bench):
    """Ten of thirty were done: they are duplicates, the others are processed, each once."""
    events = many(30)
    await bench.consumer().consume_all(events[5:15])
    outcomes = await bench.consumer().consume_all(events)
    assert kinds(outcomes) == [Processed] * 5 + [Duplicate] * 10 + [Processed] * 15
    assert await bench.total() == 30


async def test_a_batch_beyond_the_limit_of_a_commit_is_split(bench):
    """120 events of one account, two documents and a marker each: several commits, all counted, none beyond 100."""
    sizes = []
    plain_commit = bench.store.commit

    async def commit(partition, operations):
        await plain_commit(partition, operations)
        sizes.append(len(operations))

    bench.store.commit = commit
    outcomes = await bench.consumer().consume_all(many(120))
    assert kinds(outcomes) == [Processed] * 120
    assert max(sizes) <= 100
    assert len(sizes) <= 4
    assert await bench.total() == 120


async def test_an_event_too_large_by_itself_does_not_hold_up_the_others(bench):
    """It alone is rejected."""

    async def grow(message, work):
        work.create({"id": f"d{message['amount']}", "text": "x" * message.get("size", 1)})
        return

    events = [delivery({"amount": n, "size": 3_000_000 if n == 2 else 1}, message_id=f"m{n}") for n in range(5)]
    outcomes = await bench.consumer(handler=grow).consume_all(events)
    assert kinds(outcomes) == [Processed, Processed, Rejected, Processed, Processed]
    assert outcomes[2].reason is Reason.TOO_LARGE


async def test_poison_is_rejected_and_the_others_are_processed(bench):
    """Malformed, keyless and refused events among good ones: one outcome each, in order."""

    async def choosy(message, work):
        if message["amount"] < 0:
            raise Refused("negative")
        if message["amount"] == 0:
            raise Superseded("nothing to do")
        return await add(message, work)

    good = many(6)
    outcomes = await bench.consumer(handler=choosy).consume_all(
        [
            good[0],
            delivery(raw=b"\xff", message_id="bad"),
            good[1],
            delivery({"amount": -1}, message_id="neg"),
            good[2],
            delivery(message_id=None),
            good[3],
            delivery({"amount": 0}, message_id="zero"),
            good[4],
            good[5],
        ]
    )
    assert kinds(outcomes) == [
        Processed, Rejected, Processed, Rejected, Processed, Rejected, Processed, Stale, Processed, Processed,
    ]  # fmt: skip
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Rejected)]
    assert reasons == [Reason.MALFORMED, Reason.REFUSED, Reason.NO_STABLE_KEY]
    assert await bench.total() == 6


async def test_what_a_refusing_handler_staged_is_not_committed(bench):
    """Writes of an event that is refused half-way do not slip into its neighbours' commit."""

    async def half(message, work):
        work.upsert({"id": f"d{message['amount']}"})
        if message["amount"] == 1:
            raise Refused("changed my mind")

    await bench.consumer(handler=half).consume_all([delivery({"amount": n}, message_id=f"m{n}") for n in range(3)])
    assert [await bench.memory.read("1", f"d{n}") is not None for n in range(3)] == [True, False, True]


async def test_what_a_refusing_handler_changed_is_not_committed(bench):
    """Changes inside a document that an earlier event staged do not slip into that event's commit."""

    async def listing(message, work):
        log = await work.get("log") or {"id": "log", "amounts": []}
        log["amounts"].append(message["amount"])
        if message["amount"] == 1:
            raise Refused("changed my mind")
        work.upsert(log)

    await bench.consumer(handler=listing).consume_all([delivery({"amount": n}, message_id=f"m{n}") for n in range(3)])
    assert (await bench.memory.read("1", "log")).body["amounts"] == [0, 2]


async def test_a_refusing_handler_is_asked_in_its_turn(bench):
    """An event that is refused on the state of its turn stays refused, whatever the events behind it would change."""

    async def needs_two(message, work):
        account = await work.get("account")
        if message["amount"] == 10 and (account is None or account["total"] < 2):
            raise Refused("too early")
        return await add(message, work)

    events = [delivery({"amount": 10}, message_id="early"), *many(2)]
    assert kinds(await bench.consumer(handler=needs_two).consume_all(events)) == [Rejected, Processed, Processed]
    assert await bench.total() == 2
