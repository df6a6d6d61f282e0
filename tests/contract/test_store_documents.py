"""Every store gives back what was written, for as long as it lives. What only one database does is tested elsewhere."""

import pytest

from shared.idempotency import Create, PreconditionFailed

from .conftest import Subject
from .documents import body, commit, create, found, replace, upsert

pytestmark = pytest.mark.asyncio(loop_scope="package")


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
