"""The plan of orders: what is sent follows from the seed, and everything promised about it holds for any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.demo.orders.plan import FEW_REUSED_IDS, Fate, Plan, draw
from local.demo.producers import UNSTABLE_IDS

sizes = st.fixed_dictionaries(
    {
        "orders": st.integers(1, 40),
        "duplicates": st.floats(0, 1),
        "crashes": st.integers(0, 6),
        "seed": st.integers(0, 10**6),
    }
).filter(lambda size: size["crashes"] <= size["orders"])


@pytest.fixture
def plan() -> Plan:
    """The plan of `make run`."""
    return draw(orders=200, duplicates=0.3, crashes=2, seed=1)


def test_the_seed_decides(plan: Plan) -> None:
    """A run that went wrong can be run again."""
    assert draw(orders=200, duplicates=0.3, crashes=2, seed=1) == plan
    assert draw(orders=200, duplicates=0.3, crashes=2, seed=2) != plan


def test_the_usual_plan_has_every_fate(plan: Plan) -> None:
    """200 orders of 20 customers, 0.3 of 220 sent twice, half inside the window and half outside."""
    fates = plan.fates()
    assert fates[Fate.PROCESSED] == 220
    assert fates[Fate.DROPPED] == fates[Fate.ABSORBED] == 33
    assert fates[Fate.FINGERPRINT_MISMATCH] == FEW_REUSED_IDS
    assert fates[Fate.NO_STABLE_KEY] == len(UNSTABLE_IDS)
    assert set(fates) == set(Fate)


@given(sizes)
def test_a_copy_follows_its_original_before_any_clock_is_moved(size: dict[str, int]) -> None:
    """Or the broker could not know the id yet, or not any more."""
    for wave in draw(**size).waves:
        trap = wave.crash.at if wave.crash else len(wave.messages)
        seen = set()
        for message in wave.messages:
            assert (message.message_id in seen) == (message.fate is Fate.DROPPED)
            seen.add(message.message_id)
        assert trap == len(wave.messages) or wave.messages[trap].fate is Fate.PROCESSED


@given(sizes)
def test_within_one_window_no_id_comes_twice_but_to_be_dropped(size: dict[str, int]) -> None:
    """Keyless and reused ids too: the broker would drop the second, and it would be missing from the ledger."""
    plan = draw(**size)
    early = [m.message_id for wave in plan.waves for m in wave.messages if m.fate is not Fate.DROPPED]
    late = [m.message_id for m in plan.late]
    assert len(set(early)) == len(early)
    assert len(set(late)) == len(late)


@given(sizes)
def test_late_messages_repeat_ids_that_were_processed(size: dict[str, int]) -> None:
    """Copies carry the same content in other bytes, reused ids other content."""
    plan = draw(**size)
    originals = {m.message_id: m for wave in plan.waves for m in wave.messages if m.fate is Fate.PROCESSED}
    assert all(message.body != originals[message.message_id].body for message in plan.late)
    assert {message.fate for message in plan.late} <= {Fate.ABSORBED, Fate.FINGERPRINT_MISMATCH}


@given(sizes)
def test_every_crash_is_planned_in_its_own_wave(size: dict[str, int]) -> None:
    """One crash a wave, none in the last: after it the rest is sent."""
    *crashing, last = draw(**size).waves
    assert [wave.crash is not None for wave in crashing] == [True] * size["crashes"]
    assert last.crash is None
