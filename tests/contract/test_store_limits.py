"""Every store refuses what is too large, what could not be read back and what would come back changed."""

import pytest

from shared.idempotency import Create, TooLarge

from .conftest import Subject
from .documents import body, commit, create

pytestmark = pytest.mark.asyncio(loop_scope="package")

_MEBIBYTE = 1024 * 1024


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
