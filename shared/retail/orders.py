"""Orders: a placed order becomes one document for the order and one for each line, all in the order's partition."""

from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import Field

from ..idempotency import Delivery, IdentityMismatch, NoStableKey, UnitOfWork
from .messages import ID, Exact, Id, Items, Message, Moment

_OPERATION = "/placed"
"""What follows the order id in the message id: an order has one message for each thing that happens to it."""
_MOST_LINES = 90
"""With the order and the marker well under the 100 operations of a Cosmos DB batch."""
_LARGEST_QUANTITY = 1_000_000
"""With prices of 15 digits and 90 lines, totals stay below the 28 digits in which `Decimal` is exact."""


class OrderLine(Message):
    """One article of an order."""

    sku: Annotated[str, Field(min_length=1, max_length=64)]
    """The article's number."""
    quantity: Annotated[int, Field(gt=0, le=_LARGEST_QUANTITY)]
    """How many."""
    unit_price: Annotated[Exact, Field(gt=0, max_digits=15, decimal_places=4)]
    """The price of one, in the order's currency."""

    @property
    def total(self) -> Decimal:
        return self.unit_price * self.quantity


class PlaceOrder(Message):
    """A customer placed an order."""

    order_id: Id
    """The order; also the partition of everything that belongs to it."""
    customer_id: Id
    """Who ordered."""
    currency: Annotated[str, Field(pattern=r"\A[A-Z]{3}\Z")]
    """ISO 4217 code of all amounts."""
    lines: Annotated[Items[OrderLine], Field(min_length=1, max_length=_MOST_LINES)]
    """What was ordered."""
    placed_at: Moment
    """When, with its zone."""

    @classmethod
    def from_delivery(cls, delivery: Delivery) -> Self:
        """Read a delivery. Raises `Malformed`, or `IdentityMismatch` when message id and body name two orders."""
        order = cls.read(delivery.body)
        if order.order_id != order_id_of(delivery):
            raise IdentityMismatch("The body's orderId is not the order that the message id names.")
        return order

    @property
    def total(self) -> Decimal:
        return sum((line.total for line in self.lines), Decimal())


def order_id_of(delivery: Delivery) -> str:
    """The order a message is about: `1001` for message id `1001/placed`.

    It is taken from the message id alone, so that every copy of a message meets its marker whatever the body says.
    Raises `NoStableKey` without a message id, `IdentityMismatch` for one that names something else.
    """
    if not delivery.message_id:
        raise NoStableKey("The message has no message id.")
    order_id, operation, rest = delivery.message_id.partition(_OPERATION)
    if not operation or rest or not ID.match(order_id):
        raise IdentityMismatch("The message id is not '<order id>/placed' with a usable order id.")
    return order_id


async def place_order(order: PlaceOrder, work: UnitOfWork) -> dict[str, Any]:
    """Write down the order and its lines."""
    work.create(_order_document(order))
    for number, line in enumerate(order.lines, 1):
        work.create(_line_document(order, number, line))
    return {"orderId": order.order_id, "total": _amount(order.total)}


def _order_document(order: PlaceOrder) -> dict[str, Any]:
    return {
        "id": order.order_id,
        "type": "order",
        "orderId": order.order_id,
        "customerId": order.customer_id,
        "currency": order.currency,
        "lines": len(order.lines),
        "total": _amount(order.total),
        "placedAt": order.placed_at.isoformat(),
    }


def _line_document(order: PlaceOrder, number: int, line: OrderLine) -> dict[str, Any]:
    return {
        "id": f"{order.order_id}-line-{number}",
        "type": "order-line",
        "orderId": order.order_id,
        "sku": line.sku,
        "quantity": line.quantity,
        "unitPrice": _amount(line.unit_price),
        "total": _amount(line.total),
    }


def _amount(value: Decimal) -> str:
    """Money is stored as text: JSON numbers become floats in most readers."""
    return format(value, "f")
