"""Waits until there is nothing left to do, and tells when that will not come."""

import asyncio
from collections.abc import Awaitable, Callable

STANDSTILL_SECONDS = 30.0
"""When for so long nothing was done while something waits, nothing will be."""

POLL_SECONDS = 0.05


class Standstill(Exception):
    """The run does not come to its end by itself."""


async def until[S](look: Callable[[], Awaitable[S]], done: Callable[[S], bool]) -> None:
    """Wait until what `look` answers is done, twice in a row: what is on its way between two parts is in no count.

    Raises Standstill when the answer is equal for too long, and what `look` raises.
    """
    clock = asyncio.get_running_loop().time
    seen, moved_at = None, clock()
    while True:
        now = await look()
        if now != seen:
            seen, moved_at = now, clock()
        elif done(now):
            return
        elif clock() - moved_at > STANDSTILL_SECONDS:
            raise Standstill(f"for {STANDSTILL_SECONDS:.0f} s nothing moved: {now}")
        await asyncio.sleep(POLL_SECONDS)
