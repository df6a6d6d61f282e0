"""Requests that a fault holds until somebody lets them go."""

import asyncio
import itertools
from dataclasses import dataclass
from typing import Any

from .faults import RequestSummary, When

# A test that forgets to release must not hang its whole run, and a developer at a prompt needs time to look.
DEFAULT_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Held:
    """One request that waits."""

    n: int  # by which it is released
    request: RequestSummary
    when: When  # before or after its work is done
    released: asyncio.Event

    def as_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "operation": self.request.operation,
            "container": self.request.container,
            "partition_key": self.request.partition_key,
            "when": self.when,
        }


class Holds:
    """All of them."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._held: dict[int, Held] = {}
        self._changed = asyncio.Condition()

    async def wait(self, request: RequestSummary, when: When) -> None:
        """Keep this request waiting until it is released."""
        held = Held(next(self._numbers), request, when, asyncio.Event())
        self._held[held.n] = held
        async with self._changed:
            self._changed.notify_all()
        try:
            await held.released.wait()
        finally:
            self._held.pop(held.n, None)

    def waiting(self) -> list[Held]:
        return list(self._held.values())

    async def until(self, count: int, timeout: float = DEFAULT_WAIT_SECONDS) -> list[Held]:
        """Wait until at least `count` requests are held; TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(lambda: len(self._held) >= count)
        return self.waiting()

    def release(self, n: int | None = None) -> int:
        """Let one go, or all; the number of requests released."""
        going = [held for held in self.waiting() if n in (None, held.n)]
        for held in going:
            self._held.pop(held.n)
            held.released.set()
        return len(going)
