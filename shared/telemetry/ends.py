"""How a delivery ended, in one word that all signals share."""

from enum import StrEnum

from ..idempotency import DeliveryEnded, Duplicate, Processed, Reason, Rejected, Stale


class End(StrEnum):
    """The values of `outcome`."""

    PROCESSED = "processed"
    DUPLICATE = "duplicate"
    STALE = "stale"
    REJECTED = "rejected"
    FAILED = "failed"
    """An exception ended it, and the broker delivers again."""


def end_in(event: DeliveryEnded) -> End:
    """Its outcome, or the lack of one."""
    match event.outcome:
        case Processed():
            return End.PROCESSED
        case Duplicate():
            return End.DUPLICATE
        case Stale():
            return End.STALE
        case Rejected():
            return End.REJECTED
        case None:
            return End.FAILED


def reason_in(event: DeliveryEnded) -> Reason | None:
    """Why it was rejected; None when it was not."""
    return event.outcome.reason if isinstance(event.outcome, Rejected) else None
