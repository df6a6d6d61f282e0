"""Every store commits all or nothing, and only over the versions that were read."""

import asyncio
from typing import Any

import pytest

from shared.idempotency import CommitConflict, Conflict, Delete, PreconditionFailed, StoreCall

from .conftest import Subject
from .documents import body, commit, create, found, replace, upsert

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_replace_and_delete_with_the_etag_that_was_read(subject: Subject) -> None:
    """Who read the current version may change it, and the etag changes with it."""
    await commit(subject, create("a", n=1), create("b"))
    first = await found(subject, "a")
    await commit(subject, replace(first, n=2), Delete("b", (await found(subject, "b")).etag))
    second = await found(subject, "a")
    assert second.body["n"] == 2
    assert second.etag != first.etag
    assert await body(subject, "b") is None


async def test_an_older_etag_is_refused(subject: Subject) -> None:
    """Who read an older version changes nothing, neither by replacing nor by deleting."""
    await commit(subject, create("a", n=1))
    old = await found(subject, "a")
    await commit(subject, upsert("a", n=2))
    for operation in (replace(old, n=3), Delete("a", old.etag)):
        with pytest.raises(PreconditionFailed) as refused:
            await commit(subject, create("other"), operation)
        assert refused.value.index == 1
    assert await body(subject, "a") == {"id": "a", "n": 2}
    assert await body(subject, "other") is None


async def test_what_is_gone_cannot_be_replaced_or_deleted(subject: Subject) -> None:
    """A deleted document is another version too."""
    await commit(subject, create("a"))
    old = await found(subject, "a")
    await commit(subject, Delete("a", old.etag))
    for operation in (replace(old), Delete("a", old.etag)):
        with pytest.raises(PreconditionFailed) as refused:
            await commit(subject, operation)
        assert refused.value.index == 0


async def test_a_deleted_document_can_be_created_again(subject: Subject) -> None:
    """A delete leaves nothing, and the etag of an earlier life is worth nothing in the next."""
    await commit(subject, create("a", life=1))
    old = await found(subject, "a")
    await commit(subject, Delete("a", old.etag))
    await commit(subject, create("a", life=2))
    with pytest.raises(PreconditionFailed):
        await commit(subject, replace(old, life=3))
    assert await body(subject, "a") == {"id": "a", "life": 2}


@pytest.mark.parametrize("failing", [0, 1, 3])
async def test_one_refused_operation_refuses_all(subject: Subject, failing: int) -> None:
    """Nothing of a commit stays when one of its operations fails, wherever it stands; its index is told."""
    await commit(subject, create("there", n=0), create("kept", n=0))
    kept = await found(subject, "kept")
    operations: list[Any] = [create("a"), upsert("b"), replace(kept, n=1)]
    operations.insert(failing, create("there", n=1))
    with pytest.raises(Conflict) as refused:
        await commit(subject, *operations)
    assert refused.value.index == failing
    assert await body(subject, "a") is None
    assert await body(subject, "b") is None
    assert await body(subject, "there") == {"id": "there", "n": 0}
    assert await found(subject, "kept") == kept


async def test_operations_see_those_before_them(subject: Subject) -> None:
    """A commit applies its operations in order: the second create of one id meets the first."""
    await commit(subject, create("a", n=1), upsert("a", n=2))
    assert await body(subject, "a") == {"id": "a", "n": 2}
    with pytest.raises(Conflict) as refused:
        await commit(subject, create("b"), create("b"))
    assert refused.value.index == 1
    assert await body(subject, "b") is None


async def test_of_many_who_create_the_same_exactly_one_wins(subject: Subject) -> None:
    """The marker's whole purpose: 32 commits at once, one effect, and all others are told who was in their way."""

    async def one(number: int) -> CommitConflict | None:
        try:
            await commit(subject, create("marker", winner=number), create(f"effect-{number}"))
        except CommitConflict as conflict:
            return conflict
        return None

    ends = await asyncio.gather(*(one(number) for number in range(32)))
    assert [type(end) for end in ends if end] == [Conflict] * 31
    assert {end.index for end in ends if end} == {0}
    winner = ends.index(None)
    assert await body(subject, "marker") == {"id": "marker", "winner": winner}
    effects = [number for number in range(32) if await body(subject, f"effect-{number}")]
    assert effects == [winner]


async def test_a_read_with_the_bookmark_of_a_conflict_sees_what_refused_it(subject: Subject) -> None:
    """Whoever was told of a conflict can read what it was."""
    await commit(subject, create("marker", n=1))
    with pytest.raises(Conflict) as refused:
        await commit(subject, create("marker", n=2))
    assert refused.value.bookmark
    document = await subject.store.read(subject.partition, "marker", bookmark=refused.value.bookmark)
    assert document is not None
    assert document.body["n"] == 1


async def test_operations_can_be_committed_again(subject: Subject) -> None:
    """A commit leaves its operations as they were, so that a retry sends the same, etags included."""
    await commit(subject, create("a", n=1))
    operations = [replace(await found(subject, "a"), n=2)]
    await commit(subject, *operations)
    with pytest.raises(PreconditionFailed):
        await commit(subject, *operations)
    assert await body(subject, "a") == {"id": "a", "n": 2}


async def test_every_call_is_told_once(subject: Subject) -> None:
    """One event for one round trip, with what it came to and what it cost."""
    await commit(subject, create("a"), create("b"))
    await subject.store.read(subject.partition, "a")
    await subject.store.read(subject.partition, "nobody")
    with pytest.raises(Conflict):
        await commit(subject, create("c"), create("a"))
    with pytest.raises(PreconditionFailed):
        await commit(subject, Delete("a", "another"))
    calls = [event for event in subject.events if isinstance(event, StoreCall)]
    assert [(call.operation, call.container, call.status) for call in calls] == [
        ("commit", "orders", 200),
        ("read", "orders", 200),
        ("read", "orders", 404),
        ("commit", "orders", 409),
        ("commit", "orders", 412),
    ]
    assert len(calls) == len(subject.events)
    assert all((call.request_charge > 0) == subject.charges for call in calls)
    assert all(call.seconds >= 0 for call in calls)
