"""Waiting for what other processes do."""

import asyncio
from collections.abc import Awaitable, Callable

PATIENCE = 20.0
POLL = 0.02


async def eventually[T](probe: Callable[[], Awaitable[T] | T], patience: float = PATIENCE) -> T:
    """Polls until the probe gives something true."""
    async with asyncio.timeout(patience):
        while True:
            value = probe()
            value = await value if isinstance(value, Awaitable) else value
            if value:
                return value
            await asyncio.sleep(POLL)
