"""Whatever is done in whatever order, Cosmos DB and the store in memory answer the same."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.idempotency import CommitConflict, Create, Delete, Operation, Replace, Upsert

from .conftest import Subject

pytestmark = pytest.mark.asyncio(loop_scope="package")

_IDS = ("a", "b", "c")
_TTL = 60
"""Seconds. Far from the steps of the clock below, so that the time a test takes decides nothing."""


@dataclass(frozen=True)
class Do:
    """One operation, told without etags: those differ between the stores."""

    what: str
    id: str
    version: int
    """Which of the etags seen so far: -1 the newest; beyond the oldest, one that never was."""
    number: int


type Step = list[Do] | int
"""A commit, or seconds that pass."""

_VALUES = st.sampled_from(["create", "create for a while", "upsert", "replace", "delete"])
_DO = st.builds(Do, _VALUES, st.sampled_from(_IDS), st.sampled_from([-1, -1, -1, -2, -9]), st.integers(0, 9))
_STEPS = st.lists(st.one_of(st.lists(_DO, min_size=1, max_size=4), st.sampled_from([1, 1000])), max_size=10)


async def played(subject: Subject, steps: list[Step]) -> list[Any]:
    """What a store answered to every step, and what stood in it afterwards."""
    partition = uuid4().hex
    etags: dict[str, list[str]] = {id: [] for id in _IDS}
    answers: list[Any] = []
    for step in steps:
        if isinstance(step, int):
            subject.advance(step)
        else:
            try:
                await subject.store.commit(partition, [_operation(do, etags) for do in step])
                answers.append("done")
            except CommitConflict as conflict:
                answers.append((type(conflict), conflict.index))
        for id in _IDS:
            document = await subject.store.read(partition, id)
            if document and document.etag not in etags[id]:
                etags[id].append(document.etag)
            answers.append({**document.body, "orderId": "same"} if document else None)
    return answers


def _operation(do: Do, etags: dict[str, list[str]]) -> Operation:
    seen = etags[do.id]
    etag = seen[do.version] if len(seen) >= -do.version else '"never"'
    body = {"id": do.id, "number": do.number}
    match do.what:
        case "create":
            return Create(do.id, body)
        case "create for a while":
            return Create(do.id, body, _TTL)
        case "upsert":
            return Upsert(do.id, body)
        case "replace":
            return Replace(do.id, body, etag)
        case _:
            return Delete(do.id, etag)


@settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=_STEPS)
async def test_both_stores_answer_the_same(memory: Subject, cosmos: Subject, steps: list[Step]) -> None:
    """Random commits, stale etags and passing time: equal answers, equal documents."""
    assert await played(cosmos, steps) == await played(memory, steps)
