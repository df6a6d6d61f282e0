"""Customers: a registration becomes the customer's document, which is also the marker of the message."""

from typing import Annotated, Any, Self

from pydantic import Field

from ..idempotency import Delivery, IdentityMismatch, NoStableKey, UnitOfWork
from .messages import ID, Id, Message, Moment


class RegisterCustomer(Message):
    """A customer signed up."""

    customer_id: Id
    """The customer; also the document's id and its partition."""
    name: Annotated[str, Field(min_length=1, max_length=200)]
    """As the customer wrote it."""
    email: Annotated[str, Field(max_length=254, pattern=r"\A[^@\s]+@[^@\s]+\.[^@\s]+\Z")]
    """Looks like an address; only a mail that arrives proves one. The longest that SMTP can carry is 254."""
    registered_at: Moment
    """When, with its zone."""

    @classmethod
    def from_delivery(cls, delivery: Delivery) -> Self:
        """Read a delivery. Raises `Malformed`, or `IdentityMismatch` when message id and body name two customers."""
        customer = cls.read(delivery.body)
        if customer.customer_id != customer_id_of(delivery):
            raise IdentityMismatch("The body's customerId is not the customer that the message id names.")
        return customer


def customer_id_of(delivery: Delivery) -> str:
    """The customer a message is about: its message id.

    Raises `NoStableKey` without a message id, `IdentityMismatch` for one that cannot be a customer's.
    """
    if not delivery.message_id:
        raise NoStableKey("The message has no message id.")
    if not ID.match(delivery.message_id):
        raise IdentityMismatch("The message id is not a usable customer id.")
    return delivery.message_id


async def register_customer(customer: RegisterCustomer, work: UnitOfWork) -> dict[str, Any]:
    """Write down the customer."""
    work.create(
        {
            "id": customer.customer_id,
            "type": "customer",
            "customerId": customer.customer_id,
            "name": customer.name,
            "email": customer.email,
            "registeredAt": customer.registered_at.isoformat(),
        }
    )
    return {"customerId": customer.customer_id}
