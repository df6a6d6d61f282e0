"""What a handler stages is what is committed: one operation a document, in order."""

import pytest

from shared.idempotency import Create, Delete, Replace, UnitOfWork, Upsert
from shared.stores.memory import MemoryStore


@pytest.fixture
async def store() -> MemoryStore:
    """A store that holds one document, "a"."""
    store = MemoryStore(partition_property="p")
    await store.commit("1", [Create("a", {"id": "a", "n": 1})])
    return store


def work_on(store: MemoryStore) -> UnitOfWork:
    return UnitOfWork(store, "1")


async def test_staged_writes_are_seen_by_the_handler_that_staged_them(store):
    """Reading after staging shows what will be, and nothing is written before the commit."""
    work = work_on(store)
    work.create({"id": "b", "n": 2})
    assert await work.get("b") == {"id": "b", "n": 2}
    assert await store.read("1", "b") is None


async def test_a_read_document_is_the_handlers_to_change(store):
    """Changing what `get` returned changes nothing until it is staged."""
    work = work_on(store)
    document = await work.get("a")
    document["n"] = 5
    assert (await work.get("a"))["n"] == 1


async def test_what_is_staged_stays_as_it_was_staged(store):
    """Changing a document after staging it, or what `get` returned of it, changes nothing that is committed."""
    work = work_on(store)
    document = {"id": "b", "lines": [1]}
    work.create(document)
    document["lines"].append(2)
    (await work.get("b"))["lines"].append(3)
    assert work.operations == [Create("b", {"id": "b", "lines": [1]})]


async def test_replacing_and_deleting_carry_the_version_that_was_read(store):
    """The etag of the read goes into the operation, so that somebody else's change is noticed."""
    etag = (await store.read("1", "a")).etag
    work = work_on(store)
    document = await work.get("a")
    work.replace(document | {"n": 2})
    assert [type(o) for o in work.operations] == [Replace]
    assert work.operations[0].etag == etag
    work.delete("a")
    assert work.operations == [Delete("a", etag)]


async def test_a_document_that_was_not_read_cannot_be_replaced_or_deleted(store):
    """Blind overwriting has its own name, upsert."""
    work = work_on(store)
    with pytest.raises(LookupError, match="get it before"):
        work.replace({"id": "a"})
    with pytest.raises(LookupError, match="get it before"):
        work.delete("a")


STEPS = {
    "create": lambda work: work.create({"id": "a", "step": "create"}),
    "upsert": lambda work: work.upsert({"id": "a", "step": "upsert"}),
    "replace": lambda work: work.replace({"id": "a", "step": "replace"}),
    "delete": lambda work: work.delete("a"),
}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("create", "replace", Create),
        ("create", "upsert", Create),
        ("create", "delete", None),
        ("upsert", "upsert", Upsert),
        ("upsert", "replace", Upsert),
        ("replace", "replace", Replace),
        ("replace", "upsert", Replace),
        ("replace", "delete", Delete),
        ("delete", "create", Replace),
        ("delete", "upsert", Replace),
        ("create", "create", ValueError),
        ("upsert", "create", ValueError),
        ("upsert", "delete", ValueError),
        ("replace", "create", ValueError),
        ("delete", "replace", ValueError),
        ("delete", "delete", ValueError),
    ],
)
async def test_two_stagings_of_one_document_become_one_operation(store, first, second, expected):
    """What the two mean together is staged; what they cannot mean is refused."""
    work = work_on(store)
    await work.get("a")
    STEPS[first](work)
    if expected is ValueError:
        with pytest.raises(ValueError, match="staged"):
            STEPS[second](work)
        return
    STEPS[second](work)
    assert [type(operation) for operation in work.operations] == ([expected] if expected else [])
    if expected not in (None, Delete):
        assert work.operations[0].body["step"] == second


@pytest.mark.parametrize("id", ["", None, 7, "a/b", "a\\b", "a#b", "a?b", "é" * 128, "marker-x"])
async def test_an_id_that_a_store_cannot_keep_is_refused_before_anything_is_sent(store, id):
    """Characters that create but cannot be read, ids too long, and ids of markers are the handler's fault."""
    with pytest.raises(ValueError, match=r"[Dd]ocument"):
        work_on(store).create({"id": id})
