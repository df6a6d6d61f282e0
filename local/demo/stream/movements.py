"""What a shop's warehouses say: movements of stock, their events, and what has to come of them."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any

from ..documents import Effect
from ..producers import MOMENT

SKUS = tuple(f"{article}-{size}" for article in ("tea", "cup", "pot", "honey") for size in ("s", "m", "l"))
"""A dozen articles: every partition of the hub gets some."""

WAREHOUSES = ("north", "south")
LARGEST_DIGITS = 99_999
"""The most that moves at once, before its decimal point is set."""

MOST_PLACES = 3
"""Decimal places of a quantity: grams of what is counted in kilograms. Floats would not add up."""


@dataclass(frozen=True, slots=True)
class Movement:
    """Some of an article came into a warehouse or left it."""

    movement_id: str
    """The event's message id."""
    sku: str
    """The article; the event's partition key."""
    warehouse: str
    """Where."""
    quantity: Decimal
    """How much came, or, below zero, left; never zero."""

    def as_json(self) -> dict[str, Any]:
        """The event's body."""
        return {
            "movementId": self.movement_id,
            "sku": self.sku,
            "warehouse": self.warehouse,
            "quantity": format(self.quantity, "f"),
            "occurredAt": MOMENT,
        }

    def effects(self) -> list[Effect]:
        """The documents that have to stand in the article's partition, once each, beside its level."""
        return [
            Effect("marker", self.sku, self.movement_id),
            movement_effect(self.sku, self.movement_id, self.warehouse, self.quantity),
        ]

    def altered(self) -> "Movement":
        """Another movement under the same id: ten times as much."""
        return replace(self, quantity=self.quantity * 10)


@dataclass(frozen=True, slots=True)
class Level:
    """How much of an article there is."""

    sum: Decimal
    """Of the quantities of its movements."""
    count: int
    """How many movements that were."""

    def __add__(self, other: "Level") -> "Level":
        return Level(self.sum + other.sum, self.count + other.count)


NO_STOCK = Level(Decimal(0), 0)


def levels_after(movements: Iterable[Movement]) -> dict[str, Level]:
    """The level of every article that moved."""
    levels: dict[str, Level] = {}
    for movement in movements:
        levels[movement.sku] = levels.get(movement.sku, NO_STOCK) + Level(movement.quantity, 1)
    return levels


def movement_effect(sku: str, movement_id: str, warehouse: str, quantity: Decimal) -> Effect:
    """What the document of a movement proves."""
    return Effect("movement", sku, f"{movement_id}: {plain(quantity)} in {warehouse}")


def parked_effect(reason: str, body: bytes) -> Effect:
    """What a parked event proves: that its body is kept, and under which reason."""
    return Effect("parked", reason, hashlib.sha256(body).hexdigest())


def plain(number: Decimal) -> str:
    """A number's one spelling: equal numbers have equal texts."""
    return format(number.normalize(), "f")


def draw_movement(number: int, random: Random) -> Movement:
    """A movement of some article."""
    digits = Decimal(random.choice((1, -1)) * random.randint(1, LARGEST_DIGITS))
    quantity = digits.scaleb(-random.randint(0, MOST_PLACES))
    return Movement(f"m-{number}", random.choice(SKUS), random.choice(WAREHOUSES), quantity)
