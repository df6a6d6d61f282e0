"""Stock: each movement becomes a document and changes its article's level, both in the article's partition."""

from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ..idempotency import Delivery, IdentityMismatch, NoStableKey, UnitOfWork
from .messages import ID, Exact, Id, Message, Moment

LEVEL_ID = "level"
"""The document of an article's level; an article is a partition, so one id does for all."""
_MOVEMENT = "movement-"
"""What ids of movements' documents begin with, so that no movement can be called like the level."""


def _not_zero(quantity: Decimal) -> Decimal:
    if not quantity:
        raise PydanticCustomError("zero", "Input should not be zero")
    return quantity


class StockMovement(Message):
    """Some of an article came into a warehouse or left it."""

    movement_id: Id
    """The movement; also the message id of every copy of the event."""
    sku: Id
    """The article's number; also the partition key of every copy of the event."""
    warehouse: Id
    """Where it lies."""
    quantity: Annotated[Exact, Field(max_digits=15, decimal_places=4), AfterValidator(_not_zero)]
    """How much came, or, below zero, left. Ten million million of the largest stay below the 28 digits in which
    `Decimal` is exact."""
    occurred_at: Moment
    """When, with its zone."""

    @classmethod
    def from_delivery(cls, delivery: Delivery) -> Self:
        """Read a delivery. Raises `Malformed`, or `IdentityMismatch` when the body names another movement or sku."""
        movement = cls.read(delivery.body)
        if movement.movement_id != delivery.message_id:
            raise IdentityMismatch("The body's movementId is not the movement that the message id names.")
        if movement.sku != sku_of(delivery):
            raise IdentityMismatch("The body's sku is not the article that the partition key names.")
        return movement


def sku_of(delivery: Delivery) -> str:
    """The article an event is about: its partition key.

    The producer sends it with every copy, for it keeps an article's movements in one partition of the hub and in order;
    so every copy meets its marker whatever the body says. Ids of movements are unique within an article.
    Raises `NoStableKey` without a partition key, `IdentityMismatch` for one that cannot be an article's number.
    """
    if not delivery.partition_key:
        raise NoStableKey("The event has no partition key, which would name its article.")
    if not ID.match(delivery.partition_key):
        raise IdentityMismatch("The partition key is not a usable article number.")
    return delivery.partition_key


async def record_movement(movement: StockMovement, work: UnitOfWork) -> dict[str, Any]:
    """Write down the movement and bring the article's level up to date."""
    level = await work.get(LEVEL_ID)
    work.create(_movement_document(movement))
    if level is None:
        level = {"id": LEVEL_ID, "type": "level", "sku": movement.sku, "sum": "0", "count": 0}
        work.create(_after(movement, level))
    else:
        work.replace(_after(movement, level))
    return {"movementId": movement.movement_id, "sku": movement.sku}


def _after(movement: StockMovement, level: dict[str, Any]) -> dict[str, Any]:
    """The level with the movement in it. Sums are text: JSON numbers become floats in most readers."""
    return level | {
        "sum": format(Decimal(level["sum"]) + movement.quantity, "f"),
        "count": level["count"] + 1,
        "lastMovement": movement.movement_id,
    }


def _movement_document(movement: StockMovement) -> dict[str, Any]:
    return {
        "id": _MOVEMENT + movement.movement_id,
        "type": "movement",
        "movementId": movement.movement_id,
        "sku": movement.sku,
        "warehouse": movement.warehouse,
        "quantity": format(movement.quantity, "f"),
        "occurredAt": movement.occurred_at.isoformat(),
    }
