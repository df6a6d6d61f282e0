"""Stock movements: what they must say, and the level they add up to."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency import Create, Delivery, IdentityMismatch, Malformed, NoStableKey, Replace, UnitOfWork
from shared.retail.stock import LEVEL_ID, StockMovement, record_movement, sku_of
from shared.stores.memory import MemoryStore
from tests.event_batches import movement_body, movement_members


def delivery(body: bytes | None = None, **changes: Any) -> Delivery:
    parts: dict[str, Any] = {"source": "stock-movements", "message_id": "m-1", "partition_key": "sku-1"}
    return Delivery(**parts | {"body": movement_body() if body is None else body} | changes)


def with_quantity(literal: str) -> bytes:
    return movement_body().replace(b'"-3.5"', literal.encode())


@pytest.mark.parametrize(
    "literal", ["-3.5", '"-3.5"', "1", '"0.0001"', "99999999999.9999", '"-99999999999.9999"', '"1.50"']
)
def test_quantities_keep_sign_and_digits(literal: str) -> None:
    """What was written, as a number or as text; no float is involved."""
    assert str(StockMovement.read(with_quantity(literal)).quantity) == literal.strip('"')


@pytest.mark.parametrize(
    "literal",
    [
        "0",
        '"0.00"',
        "-0",
        "0.00001",
        "999999999999",
        "1e400",
        "NaN",
        '"Infinity"',
        '"+1"',
        '" 1"',
        "true",
        "null",
        "[]",
    ],
)
def test_what_is_no_quantity_is_refused(literal: str) -> None:
    """Nothing moved, more digits than a level adds up exactly, or not a number at all."""
    with pytest.raises(Malformed):
        StockMovement.read(with_quantity(literal))


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ("movementId", {"movementId": "a/b"}),
        ("movementId", {"movementId": 7}),
        ("sku", {"sku": ""}),
        ("sku", {"sku": "x" * 65}),
        ("warehouse", {"warehouse": None}),
        ("occurredAt", {"occurredAt": "2026-01-31T12:00:00"}),
        ("note", {"note": "secret"}),
    ],
)
def test_a_malformed_movement_names_the_place_and_quotes_nothing(place: str, changes: dict[str, Any]) -> None:
    """Whoever reads the parked event's row learns where to look."""
    with pytest.raises(Malformed) as refusal:
        StockMovement.read(json.dumps(movement_members() | changes).encode())
    assert refusal.value.description.startswith(f"{place}: ")
    assert "secret" not in refusal.value.description


def test_a_movement_is_read_from_its_delivery() -> None:
    """Message id, partition key and body agree."""
    movement = StockMovement.from_delivery(delivery())
    assert (movement.movement_id, movement.sku, movement.quantity) == ("m-1", "sku-1", Decimal("-3.5"))


@pytest.mark.parametrize("changes", [{"message_id": "m-2"}, {"message_id": None}, {"partition_key": "sku-2"}])
def test_a_body_that_names_another_is_refused(changes: dict[str, Any]) -> None:
    """A copy under the right names would not meet its marker."""
    with pytest.raises(IdentityMismatch):
        StockMovement.from_delivery(delivery(**changes))


@pytest.mark.parametrize("key", [None, ""])
def test_a_movement_without_a_partition_key_has_no_stable_place(key: str | None) -> None:
    """The body alone does not decide where the marker is looked for."""
    with pytest.raises(NoStableKey):
        sku_of(delivery(partition_key=key))


@pytest.mark.parametrize("key", ["a/b", "marker-1", "sku-1\n", "x" * 65])
def test_a_partition_key_that_is_no_article_is_refused(key: str) -> None:
    """It becomes a partition's key as it is."""
    with pytest.raises(IdentityMismatch):
        sku_of(delivery(partition_key=key))


def movement(id: str, quantity: str) -> StockMovement:
    return StockMovement.read(movement_body(id, quantity=quantity))


async def test_the_first_movement_makes_the_level() -> None:
    """Both documents are new."""
    work = UnitOfWork(MemoryStore("sku"), "sku-1")
    assert await record_movement(movement("m-1", "-3.5"), work) == {"movementId": "m-1", "sku": "sku-1"}
    moved, level = work.operations
    assert isinstance(moved, Create)
    assert isinstance(level, Create)
    assert moved.body == {
        "id": "movement-m-1",
        "type": "movement",
        "movementId": "m-1",
        "sku": "sku-1",
        "warehouse": "w1",
        "quantity": "-3.5",
        "occurredAt": "2026-01-31T12:00:00+00:00",
    }
    assert level.body == {
        "id": "level",
        "type": "level",
        "sku": "sku-1",
        "sum": "-3.5",
        "count": 1,
        "lastMovement": "m-1",
    }


async def test_a_later_movement_replaces_the_level_that_it_read() -> None:
    """By its etag, so that nobody's movement is overwritten."""
    store = MemoryStore("sku")
    for id, quantity in (("m-1", "10"), ("m-2", "-2.25")):
        work = UnitOfWork(store, "sku-1")
        await record_movement(movement(id, quantity), work)
        await store.commit("sku-1", work.operations)
    assert isinstance(work.operations[1], Replace)
    level = await store.read("sku-1", LEVEL_ID)
    assert level is not None
    assert (level.body["sum"], level.body["count"], level.body["lastMovement"]) == ("7.75", 2, "m-2")


async def test_a_movement_called_like_the_level_is_another_document() -> None:
    """No name that a producer chooses can take the level's place."""
    work = UnitOfWork(MemoryStore("sku"), "sku-1")
    await record_movement(movement("level", "1"), work)
    assert [operation.id for operation in work.operations] == ["movement-level", "level"]


@given(st.lists(st.decimals("-99999999999.9999", "99999999999.9999", places=4).filter(bool), max_size=30))
async def test_levels_are_exact_sums(quantities: list[Decimal]) -> None:
    """Every digit, staged in one unit of work or not, in whatever order."""
    work = UnitOfWork(MemoryStore("sku"), "sku-1")
    for n, quantity in enumerate(quantities):
        await record_movement(movement(f"m-{n}", format(quantity, "f")), work)
    level = await work.get(LEVEL_ID) or {"sum": "0", "count": 0}
    assert (Decimal(level["sum"]), level["count"]) == (sum(quantities), len(quantities))
