"""Waiting out what time may heal, inside the invocation, up to a deadline.

A broker that gets a message back delivers it again at once, and ten deliveries burn in seconds. So a delivery is held
here, its lock renewed by the host meanwhile, and given back only when patience has run out.
"""

from collections.abc import Callable

from .clock import Clock
from .errors import TransientFailure

_FIRST_DELAY = 0.1
"""Seconds before the first retry, at most: a throttled partition recovers within tens of milliseconds."""
_LONGEST_DELAY = 10.0
"""Seconds between retries, at most: an outage is noticed to be over soon enough, and nobody is hammered."""


class Patience:
    """How long one delivery may still be held."""

    def __init__(self, seconds: float, clock: Clock, random: Callable[[], float]) -> None:
        """`seconds`: from now, waiting included. `random`: uniform in [0, 1), spreads retries that began together."""
        self._clock = clock
        self._random = random
        self._deadline = clock.monotonic() + seconds
        self._ceiling = _FIRST_DELAY

    def delay_after(self, failure: TransientFailure) -> float:
        """Seconds to wait before the next try. Raises the failure itself when the deadline comes first."""
        delay = max(self._ceiling * self._random(), failure.retry_after or 0.0)
        self._ceiling = min(self._ceiling * 2, _LONGEST_DELAY)
        if self._clock.monotonic() + delay >= self._deadline:
            raise failure
        return delay
