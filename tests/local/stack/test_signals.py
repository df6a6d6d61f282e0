"""A command that is told to end cleans up first."""

import asyncio
import signal
import sys

import pytest

PROGRAM = """
import asyncio, sys
from local.stack import run_until_signal

async def command():
    try:
        print("running", flush=True)
        await asyncio.sleep(600)
    finally:
        print("tidy", flush=True)

sys.exit(run_until_signal(command()))
"""

DEADLINE_SECONDS = 30.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_command_after_its_clean_up(number: signal.Signals) -> None:
    """The exit code is what a shell reports for the signal."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await process.stdout.readline() == b"running\n"
        process.send_signal(number)
        assert await process.stdout.read() == b"tidy\n"
        assert await process.wait() == 128 + number
