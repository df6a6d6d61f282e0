"""What a shop's systems say: orders and customers, their messages, and the documents that have to come of them."""

from dataclasses import dataclass
from random import Random
from typing import Any

from ..documents import Effect
from ..producers import MOMENT

PRICES = {
    "tea-250": "4.90",
    "cup-blue": "11.50",
    "pot-steel": "39.00",
    "filter-100": "3.20",
    "spoon": "2.75",
    "honey-500": "8.40",
}
"""The catalogue: unit price by sku, as text, since money is never a float."""

LARGEST_ORDER_LINES = 4
LARGEST_QUANTITY = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an order."""

    sku: str
    """What is ordered; unique within the order."""
    quantity: int
    """How many."""

    def as_json(self) -> dict[str, Any]:
        return {"sku": self.sku, "quantity": self.quantity, "unitPrice": PRICES[self.sku]}


@dataclass(frozen=True, slots=True)
class Order:
    """An order that was placed."""

    order_id: str
    """Partition of all its documents; begins the message's id."""
    customer_id: str
    """Who ordered."""
    lines: tuple[Line, ...]
    """What was ordered."""

    @property
    def message_id(self) -> str:
        """The business id of the operation."""
        return f"{self.order_id}/placed"

    def as_json(self) -> dict[str, Any]:
        """The message's body."""
        return {
            "orderId": self.order_id,
            "customerId": self.customer_id,
            "currency": "EUR",
            "lines": [line.as_json() for line in self.lines],
            "placedAt": MOMENT,
        }

    def effects(self) -> list[Effect]:
        """The documents that have to stand in the order's partition, once each."""
        lines = [Effect("order-line", self.order_id, f"{line.quantity} {line.sku}") for line in self.lines]
        order = Effect("order", self.order_id, self.customer_id)
        return [Effect("marker", self.order_id, self.message_id), order, *lines]

    def altered(self) -> "Order":
        """Another order under the same id: one more of the first line."""
        first, *rest = self.lines
        return Order(self.order_id, self.customer_id, (Line(first.sku, first.quantity + 1), *rest))


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer who registered."""

    customer_id: str
    """Partition of the customer's document, and the message's id."""
    email: str
    """Where to write to."""

    @property
    def message_id(self) -> str:
        """The customer's own id: the entity is its own marker."""
        return self.customer_id

    def as_json(self) -> dict[str, Any]:
        """The message's body."""
        name = f"Customer {self.customer_id}"
        return {"customerId": self.customer_id, "name": name, "email": self.email, "registeredAt": MOMENT}

    def effects(self) -> list[Effect]:
        """The one document that has to stand in the customer's partition, marker included."""
        return [
            Effect("customer", self.customer_id, self.email),
            Effect("marker", self.customer_id, self.message_id),
        ]

    def altered(self) -> "Customer":
        """Another customer under the same id."""
        return Customer(self.customer_id, f"other.{self.email}")


type Entity = Order | Customer


def draw_order(number: int, customers: int, random: Random) -> Order:
    """An order by one of so many customers."""
    skus = random.sample(sorted(PRICES), random.randint(1, LARGEST_ORDER_LINES))
    lines = tuple(Line(sku, random.randint(1, LARGEST_QUANTITY)) for sku in skus)
    return Order(str(number), f"C-{random.randint(1, customers)}", lines)
