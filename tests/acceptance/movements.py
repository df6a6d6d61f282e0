"""Stock movements as the tests send them, and what the database makes of them."""

import json
from decimal import Decimal
from typing import Any

from .desk import Desk


def movement(movement_id: str, sku: str, quantity: str = "1", **changes: Any) -> tuple[str, bytes]:
    """A movement's id and its body."""
    body = {
        "movementId": movement_id,
        "sku": sku,
        "warehouse": "north",
        "quantity": quantity,
        "occurredAt": "2026-01-31T12:00:00Z",
    }
    return movement_id, json.dumps(body | changes).encode()


def movements(sku: str, count: int) -> list[tuple[str, bytes]]:
    return [movement(f"{sku}-m{n}", sku, str(n + 1)) for n in range(count)]


async def level(desk: Desk, sku: str) -> tuple[Decimal, int, int]:
    """The level's sum and count, and how many movements were written."""
    found = await desk.documents("stock", sku)
    levels = found.get("level", [])
    assert len(levels) <= 1
    sums = (Decimal(levels[0]["sum"]), levels[0]["count"]) if levels else (Decimal(0), 0)
    return *sums, len(found.get("movement", []))


def of(count: int) -> tuple[Decimal, int, int]:
    """The level after that many of `movements`, each counted once."""
    return Decimal(count * (count + 1) // 2), count, count
