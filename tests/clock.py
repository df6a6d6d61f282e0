"""Time in the hands of a test."""

import asyncio
from datetime import UTC, datetime, timedelta


class ManualClock:
    """A clock that moves when told to, and when somebody sleeps on it: waiting takes no time."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)
