"""What happens, told to whoever listens. Telemetry hangs on these events and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .delivery import Delivery
from .errors import Reason
from .outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryEnded:
    """A delivery ended in an outcome, or in an exception that the broker will answer with another delivery."""

    consumer: str
    """The consumer's name."""
    delivery: Delivery
    """What came."""
    key: str | None
    """Digest of the key; None when the message had no stable one."""
    outcome: Outcome | None
    """None when an exception was raised."""
    error: BaseException | None
    """The exception, when there is no outcome."""
    seconds: float
    """From arrival to outcome, waiting included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """Something transient went wrong and the delivery is held until it has passed."""

    consumer: str
    """The consumer's name."""
    delivery: Delivery
    """What came; of deliveries that share a commit, the first."""
    key: str
    """Digest of its key."""
    cause: Exception
    """What went wrong."""
    delay: float
    """Seconds until the next try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCall:
    """One round trip to a store."""

    operation: str
    """`read`, `read_many` or `commit`."""
    container: str
    """The store's name for where."""
    status: int
    """The store's status code; 0 when there was no answer."""
    request_charge: float
    """Request units, as the store reported them; 0.0 where it has none."""
    started_at: datetime
    """When it was sent."""
    seconds: float
    """Until the answer, or until we stopped waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementFailed:
    """The work is done but the broker could not be told: it will deliver again, and the marker will absorb it."""

    consumer: str
    """The consumer's name."""
    source: str
    """Where the message came from."""
    message_id: str | None
    """The producer's id."""
    settlement: str
    """What was tried: `complete` or `dead_letter`."""
    error: Exception
    """What went wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A rejected delivery is in the parking lot, where people find it: its broker has no dead-letter queue."""

    consumer: str
    """The consumer's name."""
    delivery: Delivery
    """What came."""
    reason: Reason
    """Why it was rejected."""


type Event = DeliveryEnded | Retrying | StoreCall | SettlementFailed | Parked
type Hook = Callable[[Event], None]


def silent(event: Event) -> None:
    """The hook of those who do not listen."""
