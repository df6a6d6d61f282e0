"""The time by which items are stamped and expire: the machine's, plus what tests and demos have advanced it by."""

import math
import time


class Clock:
    """A clock that can be set forward, so that nobody has to wait for a TTL."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> float:
        """Set the clock forward and return the new time. ValueError if that would be backwards or not a number."""
        if not math.isfinite(seconds) or seconds < 0:
            raise ValueError("a clock is advanced by a finite number of seconds, zero or more")
        self._ahead += seconds
        return self.now()
