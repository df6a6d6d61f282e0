"""The host's time: the machine's clock plus what tests and the demo have advanced it by."""

import asyncio
from datetime import UTC, datetime, timedelta


class Clock:
    """Wall-clock time in UTC that can be moved forward; sleepers wake as soon as their moment has come."""

    def __init__(self) -> None:
        self._ahead = timedelta()
        self._advanced = asyncio.Event()

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC) + self._ahead

    def advance(self, by: timedelta) -> None:
        """Moves the clock forward; it never goes back.

        Raises ValueError for a negative step.
        """
        if by < timedelta():
            raise ValueError("the clock only goes forward")
        self._ahead += by
        self._advanced.set()
        self._advanced = asyncio.Event()

    async def sleep_until(self, moment: datetime) -> None:
        """Returns once `now()` has reached the moment."""
        while (left := (moment - self.now()).total_seconds()) > 0:
            advanced = self._advanced
            try:
                async with asyncio.timeout(left):
                    await advanced.wait()
            except TimeoutError:
                continue
