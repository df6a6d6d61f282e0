"""A parked event, as tests want it."""

from typing import Any

from shared.idempotency import Delivery, Reason
from shared.transports.parking import ParkedEvent, Position


def event(**changes: Any) -> ParkedEvent:
    """Movement m-1 that nobody can read; changes go to whichever part has the name."""
    position: dict[str, Any] = {"hub": "stock-movements", "partition": "2", "sequence_number": 41}
    delivery: dict[str, Any] = {"source": "stock-movements", "message_id": "m-1", "body": b"{}"}
    whole: dict[str, Any] = {
        "consumer": "record_movement",
        "reason": Reason.MALFORMED,
        "description": "quantity: Input should be a decimal number",
    }
    for name, value in changes.items():
        owner = position if name in Position.__slots__ else whole if name in ParkedEvent.__slots__ else delivery
        owner[name] = value
    return ParkedEvent(position=Position(**position), delivery=Delivery(**delivery), **whole)
