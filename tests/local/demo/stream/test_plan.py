"""The plan of the stream: what is sent follows from the seed, and everything promised about it holds for any size."""

from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.demo.stream.events import LARGEST_BODY, MISFITS, Event, Fate
from local.demo.stream.movements import SKUS
from local.demo.stream.plan import FEW_REUSED_IDS, LARGEST_BATCH, MOST_KEPT, Plan, draw

sizes = st.fixed_dictionaries(
    {
        "events": st.integers(0, 400),
        "duplicates": st.floats(0, 1),
        "crashes": st.integers(0, 6),
        "seed": st.integers(0, 10**6),
    }
)


@pytest.fixture
def plan() -> Plan:
    """The plan of `make run`."""
    return draw(events=2000, duplicates=0.3, crashes=2, seed=1)


def ids_of(plan: Plan, fate: Fate) -> list[str | None]:
    return [event.message_id for event in plan.events() if event.fate is fate]


def test_the_seed_decides(plan: Plan) -> None:
    """A run that went wrong can be run again."""
    assert draw(events=2000, duplicates=0.3, crashes=2, seed=1) == plan
    assert draw(events=2000, duplicates=0.3, crashes=2, seed=2) != plan


def test_the_usual_plan_has_every_fate_and_every_article(plan: Plan) -> None:
    """2000 in all; three of ten movements are told twice."""
    fates = plan.fates()
    assert fates.total() == 2000
    assert fates[Fate.ABSORBED] == pytest.approx(0.3 * fates[Fate.PROCESSED], abs=1)
    assert fates[Fate.FINGERPRINT_MISMATCH] == FEW_REUSED_IDS
    assert sum(fates[fate] for fate in Fate if fate.is_parked) == FEW_REUSED_IDS + len(MISFITS)
    assert set(fates) == set(Fate)
    assert set(plan.levels) == set(SKUS)


def test_copies_come_within_a_batch_and_much_later(plan: Plan) -> None:
    """Both ways to meet a movement again: in the same commit, and long after it."""
    originals = {e.message_id: n for n, b in enumerate(plan.batches) for e in b.events if e.fate is Fate.PROCESSED}
    gaps = [
        n - originals[event.message_id]
        for n, batch in enumerate(plan.batches)
        for event in batch.events
        if event.fate is Fate.ABSORBED
    ]
    assert gaps.count(0) > 10
    assert max(gaps) > len(plan.batches) / 2


def test_events_that_must_be_parked_stand_among_good_ones(plan: Plan) -> None:
    """A batch is neither all good nor all bad."""
    mixed = [{event.fate for event in batch.events} for batch in plan.batches]
    assert any({Fate.MALFORMED, Fate.PROCESSED} <= fates for fates in mixed)
    assert any({Fate.NO_STABLE_KEY, Fate.PROCESSED} <= fates for fates in mixed)


@given(sizes)
def test_so_many_events_as_asked_for_in_batches_of_one_key(size: dict[str, int]) -> None:
    """Copies and misfits are among them; a batch goes to one partition."""
    plan = draw(**size)
    assert len(list(plan.events())) == size["events"]
    for batch in plan.batches:
        assert 1 <= len(batch.events) <= LARGEST_BATCH
        assert {event.key for event in batch.events} == {batch.key}


@given(sizes)
def test_a_follower_has_its_originals_key_and_comes_behind_it(size: dict[str, int]) -> None:
    """So they share a partition, of the hub and of the database, and the original is first."""
    seen: dict[str | None, Event] = {}
    for event in draw(**size).events():
        match event.fate:
            case Fate.PROCESSED:
                assert event.message_id not in seen
                seen[event.message_id] = event
            case Fate.ABSORBED | Fate.FINGERPRINT_MISMATCH:
                assert event.key == seen[event.message_id].key
                assert event.body != seen[event.message_id].body


@given(sizes)
def test_levels_are_the_sums_of_what_takes_effect(size: dict[str, int]) -> None:
    """Markers, movements and levels are three accounts of the same events."""
    plan = draw(**size)
    processed = Counter(event.key for event in plan.events() if event.fate is Fate.PROCESSED)
    assert {sku: level.count for sku, level in plan.levels.items()} == processed
    for kind in ("marker", "movement"):
        assert Counter(effect.partition for effect in plan.effects.elements() if effect.kind == kind) == processed
    parked = [event for event in plan.events() if event.fate.is_parked]
    assert sum(effect.kind == "parked" for effect in plan.effects.elements()) == len(parked)


@given(sizes)
def test_crashes_are_laid_where_a_commit_is_sure(size: dict[str, int]) -> None:
    """As many as asked for, if there are so many batches; before and after a commit by turns."""
    plan = draw(**size)
    committing = [b for b in plan.batches if any(event.fate is Fate.PROCESSED for event in b.events)]
    crashes = [batch.crash for batch in plan.batches if batch.crash]
    assert len(crashes) == min(size["crashes"], len(committing))
    assert all(batch in committing for batch in plan.batches if batch.crash)
    assert crashes == ["before", "after", "before", "after", "before", "after"][: len(crashes)]
    assert 0 <= plan.kept <= MOST_KEPT


def test_misfits_are_what_they_are_called(plan: Plan) -> None:
    """As the transport sees them, before any of our code has looked."""
    by_fate = {fate: [event for event in plan.events() if event.fate is fate] for fate in Fate}
    assert {event.message_id for event in by_fate[Fate.NO_STABLE_KEY] if event.key} >= {None, "null"}
    assert [event.key for event in by_fate[Fate.NO_STABLE_KEY]].count(None) == 1
    assert all(len(event.body) > LARGEST_BODY for event in by_fate[Fate.TOO_LARGE])
    largest = max(len(event.body) for event in chain(by_fate[Fate.PROCESSED], by_fate[Fate.ABSORBED]))
    assert largest < LARGEST_BODY
    taken = {*ids_of(plan, Fate.PROCESSED)}
    assert not taken & {*ids_of(plan, Fate.MALFORMED), *ids_of(plan, Fate.IDENTITY_MISMATCH)}
