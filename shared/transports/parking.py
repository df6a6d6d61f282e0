"""Parking, as a port: Event Hubs has no dead-letter queue, so what can never succeed is put where people find it."""

from dataclasses import dataclass
from typing import Protocol

from ..idempotency import Delivery, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where in the streams a delivery comes from: the same whenever it is read again."""

    hub: str
    """The event hub's name."""
    partition: str
    """The partition's id within the hub."""
    sequence_number: int
    """The event's number within the partition, given by the broker once and for good."""
    part: int = 0
    """Which of the CloudEvents in the event, from 0; 0 for an event that carries none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedEvent:
    """A delivery that can never succeed, with all that is needed to understand it, mend it and send it again."""

    consumer: str
    """Who rejected it."""
    position: Position
    """Where it came from."""
    delivery: Delivery
    """What came, body and properties included."""
    reason: Reason
    """Why it was rejected, from the library's closed list."""
    description: str
    """What a person needs to act."""


class ParkingLot(Protocol):
    """Durable storage for parked events."""

    async def park(self, event: ParkedEvent) -> bool:
        """Keep an event; it is durable on return. Parking the same event again changes nothing.

        Answers whether it was new: false when it was there already, even if only because an answer was lost.
        Raises `TransientFailure` while that is not possible.
        """
        ...
