"""Named examples: what tests send and what they expect of it, valid unless a test says otherwise."""

import json
from datetime import UTC, datetime
from typing import Any

from azure.functions.servicebus import ServiceBusMessage

from shared.idempotency import Delivery

ORDER_ID = "1001"
CUSTOMER_ID = "customer-7"
LOCK_TOKEN = "6b6b3f5e-0000-4000-8000-1f2e3d4c5b6a"


def place_order_members(order_id: str = ORDER_ID, *, lines: int | list[Any] = 2, **changes: Any) -> dict[str, Any]:
    """An order of so many lines, 1 × 19.99, 2 × 19.99 and so on, or of the lines given."""
    if isinstance(lines, int):
        lines = [{"sku": f"sku-{n}", "quantity": n, "unitPrice": "19.99"} for n in range(1, lines + 1)]
    members: dict[str, Any] = {
        "orderId": order_id,
        "customerId": CUSTOMER_ID,
        "currency": "EUR",
        "lines": lines,
        "placedAt": "2026-01-31T12:00:00+00:00",
    }
    return members | changes


def place_order_body(order_id: str = ORDER_ID, *, lines: int | list[Any] = 2, **changes: Any) -> bytes:
    """`place_order_members` as the body of a message."""
    return json.dumps(place_order_members(order_id, lines=lines, **changes)).encode()


def register_customer_body(customer_id: str = CUSTOMER_ID, **changes: Any) -> bytes:
    """A registration as the body of a message."""
    members = {
        "customerId": customer_id,
        "name": "Ada Lovelace",
        "email": "ada@example.org",
        "registeredAt": "2026-01-31T12:00:00+00:00",
    }
    return json.dumps(members | changes).encode()


def delivery(body: bytes | None = None, *, message_id: str | None = f"{ORDER_ID}/placed", **changes: Any) -> Delivery:
    """The first delivery of a placed order on queue `orders`."""
    parts: dict[str, Any] = {"source": "orders", "message_id": message_id}
    return Delivery(**parts | {"body": place_order_body() if body is None else body} | changes)


def service_bus_message(
    body: bytes | None = None, *, message_id: Any = f"{ORDER_ID}/placed", delivery_count: int = 1, **changes: Any
) -> ServiceBusMessage:
    """A placed order as the Functions worker hands it to a trigger."""
    parts: dict[str, Any] = {
        "body": place_order_body() if body is None else body,
        "message_id": message_id,
        "delivery_count": delivery_count,
        "lock_token": LOCK_TOKEN,
        "enqueued_time_utc": datetime(2026, 1, 31, 12, tzinfo=UTC),
        "application_properties": {},
        "user_properties": {},
        "content_type": "application/json",
    }
    return ServiceBusMessage(**parts | changes)


def cloud_event_text(data: str = '{"n": 1}', *, id: str = f"{ORDER_ID}/placed", source: str = "/shop") -> str:
    """A structured CloudEvent around the JSON text `data`, which stays as it is written."""
    return f'{{"specversion": "1.0", "type": "order.placed", "source": "{source}", "id": "{id}", "data": {data}}}'
