"""Many deliveries at once under lost answers, lost races, outages, bugs, and everything together."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency import (
    Create,
    Delivery,
    DeliveryEnded,
    Doubtful,
    Duplicate,
    Processed,
    Reason,
    Rejected,
    TransientFailure,
    Upsert,
)
from tests.counter import Bench, add, delivery, entity_bench, kinds, many


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_markers_promised_and_never_found_are_transient(bench):
    """A conflict on a marker that no read shows is given back when patience ends; nothing runs for ever."""
    await bench.consumer().consume_all(many(3))

    async def read_many(partition, ids, *, bookmark=None):
        return {}

    bench.store.read_many = read_many
    with pytest.raises(TransientFailure, match="promised"):
        await bench.consumer().consume_all(many(3), patience=5)


async def test_an_answer_lost_after_the_commit_is_recognised_as_our_own(bench):
    """One read of the markers tells that it was us: all processed, nothing committed again."""
    bench.store.on_commit = ["lose the answer"]
    outcomes = await bench.consumer().consume_all(many(10), patience=60)
    assert kinds(outcomes) == [Processed] * 10
    assert bench.store.calls == ["read", "commit", "read_many"]


async def test_a_doubtful_commit_that_never_happened_is_committed_again(bench):
    """The markers are looked for, are not there, and the work is done."""
    bench.store.on_commit = [Doubtful("no answer")]
    assert kinds(await bench.consumer().consume_all(many(10), patience=60)) == [Processed] * 10
    assert await bench.total() == 10


async def test_a_lost_race_runs_the_handlers_again_on_fresh_state(bench):
    """Somebody else changes the account between read and commit: nothing of theirs or ours is lost."""
    await bench.consumer().consume(delivery(message_id="m0"))

    async def somebody_else_adds() -> None:
        await bench.memory.commit("1", [Upsert("account", {"id": "account", "total": 100})])

    bench.store.on_commit = [somebody_else_adds]
    outcomes = await bench.consumer().consume_all(many(3))
    assert kinds(outcomes) == [Processed] * 3
    assert await bench.total() == 103


async def test_a_document_that_another_message_created_rejects_its_event_alone(bench):
    """One blind create that can never succeed is rejected; its neighbours are processed."""
    await bench.memory.commit("1", [Create("d1", {"id": "d1"})])

    async def blind(message, work):
        work.create({"id": f"d{message['amount']}"})

    events = [delivery({"amount": n}, message_id=f"m{n}") for n in range(3)]
    outcomes = await bench.consumer(handler=blind).consume_all(events, patience=60)
    assert kinds(outcomes) == [Processed, Rejected, Processed]
    assert outcomes[1].reason is Reason.ALREADY_EXISTS


async def test_an_outage_is_waited_out(bench):
    """Throttled three times, then done."""
    bench.store.on_commit = [TransientFailure("throttled")] * 3
    assert kinds(await bench.consumer().consume_all(many(10), patience=60)) == [Processed] * 10


async def test_a_failing_partition_does_not_hold_up_the_others(bench):
    """One account cannot be written: its failure is raised after the other is done, and a retry finishes the rest."""
    good, bad = many(3, account="a"), many(3, account="b")
    plain_commit = bench.store.commit

    async def commit(partition, operations):
        if partition == "b":
            raise TransientFailure("down")
        await plain_commit(partition, operations)

    bench.store.commit = commit
    with pytest.raises(TransientFailure, match="down"):
        await bench.consumer().consume_all([*bad, *good])
    assert (await bench.total("a"), await bench.total("b")) == (3, 0)
    bench.store.commit = plain_commit
    outcomes = await bench.consumer().consume_all([*many(3, account="b", attempt=2), *many(3, account="a", attempt=2)])
    assert kinds(outcomes) == [Processed] * 3 + [Duplicate] * 3


async def test_a_bug_on_arrival_is_raised_after_the_others_are_done(bench):
    """An event whose identity cannot even be asked for stops nobody else, and is told and raised like any other bug."""

    def identity(delivery):
        return {"1-0": "a", "1-1": "b"}[delivery.message_id]

    with pytest.raises(KeyError, match="1-2"):
        await bench.consumer(identity=identity).consume_all(many(3))
    assert await bench.total() == 2
    assert sum(isinstance(event, DeliveryEnded) for event in bench.events) == 3


async def test_a_programming_error_is_raised_after_what_came_before_it(bench):
    """A bug is the host's to retry: the events before it are done, its own writes and those behind it are not."""

    async def broken(message, work):
        result = await add(message, work)
        if message["amount"] == 2:
            raise ZeroDivisionError
        return result

    events = [delivery({"amount": n}, message_id=f"m{n}") for n in (1, 2, 3)]
    with pytest.raises(ZeroDivisionError):
        await bench.consumer(handler=broken).consume_all(events, patience=60)
    assert await bench.total() == 1
    ended = [event for event in bench.events if isinstance(event, DeliveryEnded)]
    assert [type(event.outcome) for event in ended] == [Processed, type(None), type(None)]
    assert [type(event.error) for event in ended] == [type(None), ZeroDivisionError, ZeroDivisionError]


async def test_two_messages_that_create_the_same_document_do_not_hold_up_the_batch(bench):
    """Different ids, one document: the first is processed, the second rejected, as if they had come one by one."""

    async def blind(message, work):
        work.create({"id": f"d{message['amount']}"})

    events = [delivery({"amount": n}, message_id=id) for id, n in (("a", 1), ("b", 1), ("c", 2))]
    outcomes = await bench.consumer(handler=blind).consume_all(events, patience=60)
    assert kinds(outcomes) == [Processed, Rejected, Processed]
    assert outcomes[1].reason is Reason.ALREADY_EXISTS


async def test_entities_that_carry_their_markers_share_a_commit():
    """The other placement keeps its promise in a batch, too."""

    async def open_many(message, work):
        work.create({"id": f"m{message['amount']}"})

    bench = entity_bench()
    events = [delivery({"amount": n}, message_id=f"m{n}") for n in range(5)]
    assert kinds(await bench.consumer(handler=open_many).consume_all(events)) == [Processed] * 5
    assert bench.store.calls == ["commit"]
    assert kinds(await bench.consumer(handler=open_many).consume_all(events)) == [Duplicate] * 5
    await bench.memory.commit("1", [Create("m9", {"id": "m9"})])
    outcomes = await bench.consumer(handler=open_many).consume_all(
        [delivery({"amount": n}, message_id=f"m{n}") for n in (8, 9)]
    )
    assert kinds(outcomes) == [Processed, Rejected]


async def test_two_owners_of_a_partition_have_one_effect(bench):
    """Old and new owner run the same events at the same time: every event counts once."""
    events = [*many(20, account="a"), *many(20, account="b")]
    consumer = bench.consumer()
    both = await asyncio.gather(*(consumer.consume_all(events, patience=60) for _ in range(2)))
    for one, other in zip(*both, strict=True):
        assert sorted(kinds([one, other]), key=str) == [Duplicate, Processed]
    assert (await bench.total("a"), await bench.total("b")) == (20, 20)


ids = st.integers(0, 11)
faults = st.sampled_from(["none", "lose the answer", "doubt", "throttle", "race"])


@given(
    st.lists(st.lists(ids, min_size=1, max_size=12), min_size=1, max_size=6),
    st.lists(faults, max_size=6),
    st.booleans(),
)
async def test_any_interleaving_of_redeliveries_gives_the_sums_of_one_pass(batches, trouble, together):
    """Whatever repeats, in whatever batches, with whatever faults, one after the other or side by side."""
    bench = Bench()

    async def race() -> None:
        for account in "012":
            if found := await bench.memory.read(account, "account"):
                await bench.memory.commit(account, [Upsert("account", found.body)])  # same sum, another version

    async def nothing() -> None: ...

    steps = {"none": nothing, "lose the answer": "lose the answer", "race": race}
    bench.store.on_commit = [
        steps.get(fault) or (Doubtful("no answer") if fault == "doubt" else TransientFailure("throttled"))
        for fault in trouble
    ]
    consumer = bench.consumer(random=random.Random(1).random)  # noqa: S311 - jitter of a test
    runs = [consumer.consume_all([movement(n) for n in batch], patience=900) for batch in batches]
    outcomes = await asyncio.gather(*runs) if together else [await run for run in runs]
    seen = {n for batch in batches for n in batch}
    for account in "012":
        assert await bench.total(account) == sum(n + 1 for n in seen if str(n % 3) == account)
    assert sum(isinstance(outcome, Processed) for batch in outcomes for outcome in batch) == len(seen)


def movement(n: int) -> Delivery:
    """Message n always says the same: n + 1 for account n modulo 3."""
    return delivery({"amount": n + 1}, message_id=f"m{n}", account=str(n % 3))
