"""Time and waiting, as a port: the library never looks at a clock by itself, so tests decide what time it is."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the library asks of time."""

    def now(self) -> datetime:
        """The current moment, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow; the zero is arbitrary."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the event loop."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
