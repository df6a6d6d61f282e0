"""The one clock of the broker. Locks, detection windows, lifetimes and schedules follow it, and tests move it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class Clock:
    """The time of a source, plus what it was advanced by."""

    def __init__(self, source: Callable[[], float] = time.time) -> None:
        """`source` gives seconds since the Unix epoch."""
        self._source = source
        self._advanced = timedelta()

    def now(self) -> datetime:
        """The broker's time, UTC."""
        return datetime.fromtimestamp(self._source(), UTC) + self._advanced

    def now_ms(self) -> int:
        """The broker's time in milliseconds since the epoch, the unit of AMQP timestamps."""
        return int(self.now().timestamp() * 1000)

    def advance(self, seconds: float) -> None:
        """Move the clock forward. Raises ValueError for a negative number: nothing here can undo an expiry.

        Raises ValueError or OverflowError, and stays where it is, for what is no number or past the last year.
        """
        if seconds < 0:
            raise ValueError(f"a clock goes forward only, not by {seconds} seconds")
        step = timedelta(seconds=seconds)
        _ = self.now() + step
        self._advanced += step
