"""A command that ends tidily on Ctrl-C and SIGTERM."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

SIGNAL_EXIT_BASE = 128
"""Shells report a process ended by signal n as 128 + n."""


def run_until_signal(command: Coroutine[Any, Any, int]) -> int:
    """Run the command and answer its exit code.

    On Ctrl-C, SIGTERM or SIGHUP cancel it, wait until it has cleaned up, and answer what a shell would report.
    """
    return asyncio.run(_run(command))


async def _run(command: Coroutine[Any, Any, int]) -> int:
    received: list[signal.Signals] = []
    task = asyncio.create_task(command)

    def cancel(number: signal.Signals) -> None:
        received.append(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, cancel, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not received:
            raise
        return SIGNAL_EXIT_BASE + received[0]
