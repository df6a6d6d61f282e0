"""What a person sees while the demo runs: lines that stay, and one line that shows where things are."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TextIO

LIVE_SECONDS = 0.2
"""How often the line is written anew on a terminal: it moves, and can still be read."""

LOG_SECONDS = 2.0
"""How often it is written where every line stays, as in a CI log."""

ERASE_LINE = "\r\x1b[K"


class Progress:
    """Writes to one stream."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._live = stream.isatty()

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self._write(f"{ERASE_LINE}{line}\n" if self._live else f"{line}\n")

    @asynccontextmanager
    async def showing(self, state: Callable[[], Awaitable[str]]) -> AsyncIterator[None]:
        """While the block runs, keep showing what `state` answers."""
        task = asyncio.create_task(self._show(state))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if self._live:
                self._write(ERASE_LINE)

    async def _show(self, state: Callable[[], Awaitable[str]]) -> None:
        shown = ""
        while True:
            await asyncio.sleep(LIVE_SECONDS if self._live else LOG_SECONDS)
            line = await state()
            if self._live:
                self._write(f"{ERASE_LINE}{line}")
            elif line != shown:
                self._write(f"{line}\n")
                shown = line

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
