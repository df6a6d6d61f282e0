"""What every store promises. The same tests over each of them; what only one database does is tested elsewhere."""

import asyncio
from typing import Any

import pytest

from shared.idempotency import (
    CommitConflict,
    Conflict,
    Create,
    Delete,
    Document,
    PreconditionFailed,
    Replace,
    StoreCall,
    TooLarge,
    Upsert,
)

from .conftest import Subject

pytestmark = pytest.mark.asyncio(loop_scope="package")

_MEBIBYTE = 1024 * 1024


def create(id: str, ttl: int | None = None, **members: Any) -> Create:
    return Create(id, {"id": id, **members}, ttl)


def upsert(id: str, **members: Any) -> Upsert:
    return Upsert(id, {"id": id, **members})


def replace(document: Document, **members: Any) -> Replace:
    return Replace(document.id, {"id": document.id, **members}, document.etag)


async def commit(subject: Subject, *operations: Any) -> None:
    await subject.store.commit(subject.partition, operations)


async def found(subject: Subject, id: str) -> Document:
    document = await subject.store.read(subject.partition, id)
    assert document is not None
    return document


async def body(subject: Subject, id: str) -> dict[str, Any] | None:
    """The members somebody wrote, without the partition that the store adds."""
    document = await subject.store.read(subject.partition, id)
    return {name: value for name, value in document.body.items() if name != "orderId"} if document else None


async def test_what_is_created_is_read_back(subject: Subject) -> None:
    """A document comes back equal, with its partition, without anything else of the store's."""
    written = {
        "id": "a",
        "text": "Zoë €😀\u0000 \"'\\",
        "numbers": [0, -1, 1.5, 1e300, 2**53],
        "deep": {"x": [None, {}]},
    }
    await commit(subject, Create("a", written), create("b", yes=True))
    document = await found(subject, "a")
    assert document.id == "a"
    assert document.body == {**written, "orderId": subject.partition}
    assert document.etag
    assert await body(subject, "b") == {"id": "b", "yes": True}


async def test_what_was_never_written_is_none(subject: Subject) -> None:
    """Reading nothing is not an error."""
    assert await subject.store.read(subject.partition, "nobody") is None


async def test_an_id_of_any_script_is_found_again(subject: Subject) -> None:
    """Blanks, percent signs and any script are as good in ids and partitions as letters."""
    subject.partition += " 50%/ü#?"
    await commit(subject, create("größe 100% 注文+&=", n=1))
    assert await body(subject, "größe 100% 注文+&=") == {"id": "größe 100% 注文+&=", "n": 1}


async def test_a_body_without_id_gets_it(subject: Subject) -> None:
    """The operation's id is the document's, whether or not the body repeats it."""
    await commit(subject, Create("a", {"n": 1}))
    assert await body(subject, "a") == {"id": "a", "n": 1}


async def test_upsert_writes_over_whatever_is_there(subject: Subject) -> None:
    """Members of an earlier version do not shine through."""
    await commit(subject, upsert("a", old=1))
    await commit(subject, upsert("a", new=2))
    assert await body(subject, "a") == {"id": "a", "new": 2}


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


async def test_many_documents_are_read_in_one_request(subject: Subject) -> None:
    """Those that are there come back, each with its etag; those that are not there, expired or elsewhere do not."""
    await commit(subject, create("a", n=1), create("b", n=2), create("gone", ttl=5))
    subject.advance(6)
    subject.events.clear()
    many = await subject.store.read_many(subject.partition, ["b", "nobody", "gone", "a"])
    assert {id: document.body["n"] for id, document in many.items()} == {"a": 1, "b": 2}
    assert many["a"] == await found(subject, "a")
    assert [event.operation for event in subject.events] == ["read_many", "read"]
    assert await subject.store.read_many(subject.partition + "x", ["a"]) == {}


async def test_a_hundred_documents_are_one_request(subject: Subject) -> None:
    """As many as a commit can write are read again in one request; none and more are a mistake."""
    ids = [f"d{n}" for n in range(100)]
    await commit(subject, *(create(id) for id in ids))
    subject.events.clear()
    assert set(await subject.store.read_many(subject.partition, ids)) == set(ids)
    assert len(subject.events) == 1
    for number in (0, 101):
        with pytest.raises(ValueError, match="1 to 100"):
            await subject.store.read_many(subject.partition, ["a"] * number)


async def test_partitions_do_not_see_each_other(subject: Subject) -> None:
    """The same id in another partition is another document."""
    await commit(subject, create("a", n=1))
    elsewhere = subject.partition + "-2"
    await subject.store.commit(elsewhere, [create("a", n=2)])
    assert await body(subject, "a") == {"id": "a", "n": 1}
    other = await subject.store.read(elsewhere, "a")
    assert other is not None
    assert other.body == {"id": "a", "orderId": elsewhere, "n": 2}


async def test_an_expired_document_is_gone(subject: Subject) -> None:
    """From its last second on a document cannot be read, and never shows its time to live before."""
    await commit(subject, create("marker", ttl=3600, n=1), create("order"))
    subject.advance(3590)
    assert await body(subject, "marker") == {"id": "marker", "n": 1}
    subject.advance(10)
    assert await body(subject, "marker") is None
    assert await body(subject, "order") == {"id": "order"}


async def test_an_expired_document_is_in_nobodys_way(subject: Subject) -> None:
    """A create takes its place, a replace does not find it."""
    await commit(subject, create("marker", ttl=3600, n=1))
    old = await found(subject, "marker")
    subject.advance(3601)
    with pytest.raises(PreconditionFailed):
        await commit(subject, replace(old, n=2))
    await commit(subject, create("marker", ttl=3600, n=3))
    assert await body(subject, "marker") == {"id": "marker", "n": 3}


async def test_a_new_version_without_time_to_live_stays(subject: Subject) -> None:
    """Time to live belongs to a version, not to an id."""
    await commit(subject, create("a", ttl=60, n=1))
    await commit(subject, replace(await found(subject, "a"), n=2))
    subject.advance(3600)
    assert await body(subject, "a") == {"id": "a", "n": 2}


async def test_a_hundred_operations_fit(subject: Subject) -> None:
    """The largest commit there is."""
    await commit(subject, *(create(str(number)) for number in range(100)))
    assert await body(subject, "99") == {"id": "99"}


async def test_a_hundred_and_one_operations_are_too_many(subject: Subject) -> None:
    """Found before anything is sent: nothing is written, nobody is called."""
    with pytest.raises(TooLarge, match=r"101 operations.* 100"):
        await commit(subject, *(create(str(number)) for number in range(101)))
    assert subject.events == []
    assert await body(subject, "0") is None


@pytest.mark.parametrize("letter", ["x", "é", "注", '"'])
async def test_nearly_two_megabytes_fit_and_more_do_not(subject: Subject, letter: str) -> None:
    """Bytes as they are sent are measured, not characters."""
    room = 2 * _MEBIBYTE - 2048
    width = 2 if letter == '"' else len(letter.encode())
    await commit(subject, create("small"), create("large", text=letter * (room // width)))
    assert await body(subject, "small") == {"id": "small"}
    subject.events.clear()
    with pytest.raises(TooLarge, match=r"measures \d+ bytes") as refused:
        await commit(subject, create("more", text=letter * (room // width + 2048)))
    assert letter * 10 not in refused.value.description
    assert subject.events == []


async def test_documents_that_fit_alone_may_be_too_much_together(subject: Subject) -> None:
    """The whole commit is measured, too."""
    with pytest.raises(TooLarge, match=r"commit measures \d+ bytes"):
        await commit(subject, *(create(str(number), text="注" * 33_334) for number in range(21)))
    assert await body(subject, "0") is None


async def test_partition_keys_have_a_limit(subject: Subject) -> None:
    """2,048 bytes, and beyond them no retry helps."""
    longest = "é" * 1024
    await subject.store.commit(longest, [create(subject.partition)])
    assert await subject.store.read(longest, subject.partition) is not None
    with pytest.raises(TooLarge, match="2049 bytes"):
        await subject.store.commit(longest + "x", [create("a")])
    with pytest.raises(TooLarge, match="2049 bytes"):
        await subject.store.read(longest + "x", "a")


@pytest.mark.parametrize("id", ["", "EUR/MWh", "a#b", "a?b", "a\\b", "é" * 512])
async def test_ids_that_could_not_be_read_back_are_refused(subject: Subject, id: str) -> None:
    """Some ids can be written and never read again."""
    with pytest.raises(ValueError, match="id"):
        await commit(subject, Create(id, {}))
    with pytest.raises(ValueError, match="id"):
        await subject.store.read(subject.partition, id)


async def test_the_longest_id_is_found_again(subject: Subject) -> None:
    """1,023 bytes."""
    await commit(subject, create("x" * 1023))
    assert await body(subject, "x" * 1023)


@pytest.mark.parametrize(
    "operation",
    [
        Create("a", {"id": "b"}),
        Create("a", {"id": "a", "orderId": "elsewhere"}),
        Create("a", {"id": "a", "ttl": 5}),
        Create("a", {"id": "a", "_etag": "x"}),
        Create("a", {"id": "a", "n": 2**53 + 1}),
        Create("a", {"id": "a", "n": [float("nan")]}),
        Create("a", {"id": "a", "text": "\ud800"}),
        Create("a", {"id": "a"}, 0),
        Create("a", {"id": "a"}, 2**31),
        Create("a", {"id": "a"}, 3600.0),  # type: ignore[arg-type]
        Create("a", {"id": "a"}, True),
    ],
)
async def test_what_would_come_back_changed_is_refused(subject: Subject, operation: Create) -> None:
    """Another id or partition, the store's own members, numbers no database keeps, a time to live that is none."""
    with pytest.raises(ValueError, match=r"."):
        await commit(subject, create("before"), operation)
    assert subject.events == []
    assert await body(subject, "before") is None


@pytest.mark.parametrize("value", [{1: "x"}, {"x"}, b"x", object()])
async def test_what_json_cannot_carry_is_refused(subject: Subject, value: object) -> None:
    """Before anything is sent."""
    with pytest.raises(TypeError):
        await commit(subject, create("a", value=value))
    assert subject.events == []


async def test_nothing_to_commit_is_a_mistake(subject: Subject) -> None:
    """As is a document without a partition."""
    with pytest.raises(ValueError, match="at least one"):
        await commit(subject)
    with pytest.raises(ValueError, match="partition"):
        await subject.store.commit("", [create("a")])


async def test_nobody_can_reach_into_the_store(subject: Subject) -> None:
    """Changing what was written or what was read changes no document."""
    inner = {"n": 1}
    written = {"id": "a", "inner": inner}
    await commit(subject, Create("a", written))
    assert written == {"id": "a", "inner": {"n": 1}}
    inner["n"] = 2
    first = await found(subject, "a")
    first.body["inner"]["n"] = 3
    assert await body(subject, "a") == {"id": "a", "inner": {"n": 1}}


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
