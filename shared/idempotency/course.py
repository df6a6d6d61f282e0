"""One delivery's course through a consumer, from its arrival to what is told of its end."""

from dataclasses import dataclass

from .delivery import Delivery
from .errors import Rejection, Superseded
from .hooks import DeliveryEnded
from .intake import Intake
from .keys import DeduplicationKey
from .outcome import Outcome, Rejected, Stale


@dataclass(slots=True)
class Course:
    """What is known of a delivery so far."""

    delivery: Delivery
    """What came."""
    key: DeduplicationKey | None = None
    """What it is; None as long as that is not known, or for good when it has no stable key."""
    outcome: Outcome | None = None
    """How it ended; None while it has not, or when an exception ended it."""
    error: BaseException | None = None
    """The exception that ended it."""

    def refused(self, refusal: Rejection | Superseded) -> None:
        """It ended in a refusal."""
        match refusal:
            case Rejection():
                self.outcome = Rejected(refusal.reason, refusal.description)
            case Superseded():
                self.outcome = Stale(str(refusal))

    def result(self) -> Outcome:
        """The outcome. Raises the exception that ended it instead."""
        if self.outcome is None:
            raise self.error or AssertionError("a course ends in an outcome or in an exception")
        return self.outcome

    def ended(self, consumer: str, seconds: float) -> DeliveryEnded:
        """What the hook is told."""
        return DeliveryEnded(
            consumer=consumer,
            delivery=self.delivery,
            key=self.key.digest if self.key else None,
            outcome=self.outcome,
            error=None if self.outcome else self.error,
            seconds=seconds,
        )


@dataclass(frozen=True, slots=True)
class Underway:
    """A course whose delivery was taken in and has no outcome yet."""

    course: Course
    """Where the outcome goes."""
    intake: Intake
    """What was decided on arrival."""
