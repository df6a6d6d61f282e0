"""How long markers live: later than any redelivery, computed from the broker's own limits, never guessed."""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil

_MAX_SECONDS = 2**31 - 1
"""The largest time to live a Cosmos DB item may carry (Microsoft Learn, "Time to Live (TTL) in Azure Cosmos DB")."""


@dataclass(frozen=True, slots=True)
class RetentionWindow:
    """The time a marker outlives its commit. Within it the effectively-once promise holds; after it, it does not."""

    seconds: int
    """Whole seconds, as time-to-live fields want them; 1 to 2,147,483,647."""

    def __post_init__(self) -> None:
        if not 1 <= self.seconds <= _MAX_SECONDS:
            raise ValueError(f"A retention window is 1 to {_MAX_SECONDS} whole seconds, not {self.seconds}.")

    @classmethod
    def covering(
        cls,
        *,
        lock_duration: timedelta,
        max_deliveries: int,
        message_ttl: timedelta,
        duplicate_detection_window: timedelta,
        resubmission_allowance: timedelta,
    ) -> "RetentionWindow":
        """The window that outlives every copy of a message.

        A copy lives at most as long as the longest of: all its locks one after the other, its time to live, the
        broker's duplicate-detection window. A dead-lettered copy may be resubmitted for `resubmission_allowance`, and
        what is resubmitted is a new copy with a whole life before it.
        """
        life = max(lock_duration * max_deliveries, message_ttl, duplicate_detection_window)
        return cls._covering_two_lives(life, resubmission_allowance)

    @classmethod
    def covering_stream(cls, *, event_retention: timedelta, resubmission_allowance: timedelta) -> "RetentionWindow":
        """The window that outlives every reading of an event.

        An event can be read again for as long as the stream keeps it. One that was parked may be sent again for
        `resubmission_allowance`, and is then a new event with a whole life before it.
        """
        return cls._covering_two_lives(event_retention, resubmission_allowance)

    @classmethod
    def _covering_two_lives(cls, life: timedelta, resubmission_allowance: timedelta) -> "RetentionWindow":
        whole = life + resubmission_allowance + life if resubmission_allowance else life
        return cls(ceil(whole.total_seconds()))

    @property
    def duration(self) -> timedelta:
        return timedelta(seconds=self.seconds)
