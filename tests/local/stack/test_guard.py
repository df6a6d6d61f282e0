"""A part ends with whoever started it, however that one ended."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from local.stack.guard import FORCED_EXIT_CODE
from local.stack.part import GUARD

GONE_SECONDS = 20.0
"""A deadline for a busy machine, not an expectation."""

PARENT_AND_CHILD = "sleep 600 & echo $$ $!; wait"

STUBBORN = "trap '' TERM; echo $$ $$; while :; do sleep 600; done"

SUPERVISOR = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-I", "-S", {str(GUARD)!r}, "sh", "-c", {PARENT_AND_CHILD!r}], stdin=subprocess.PIPE,
                 start_new_session=True)
time.sleep(600)
"""

IMPATIENT_GUARD = f"""
import sys
sys.path.insert(0, {str(GUARD.parent)!r})
import guard
guard.STOP_GRACE_SECONDS = 0.1
sys.exit(guard.run(sys.argv[1:]))
"""


@asynccontextmanager
async def running(*command: str | Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, list[int]]]:
    """A process that prints the ids of the processes to watch, and these ids."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        async with asyncio.timeout(GONE_SECONDS):
            yield process, [int(pid) for pid in (await process.stdout.readline()).split()]
    finally:
        process.stdin.close()
        if process.returncode is None:
            process.kill()
        await process.communicate()  # to the end of its output, so that nothing of it outlives the event loop


async def until_gone(pids: list[int]) -> None:
    """Return once none of the processes exists."""
    while any(_exists(pid) for pid in pids):  # noqa: ASYNC110 - the kernel sets no event for other people's children
        await asyncio.sleep(0.02)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # In a container nobody may reap orphans: a zombie is gone for our purpose.
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


async def test_closing_the_pipe_ends_the_command_and_its_children() -> None:
    """The orderly stop: the supervisor closes the guard's standard input."""
    async with running("-I", "-S", GUARD, "sh", "-c", PARENT_AND_CHILD) as (guard, pids):
        assert len(pids) == 2
        assert guard.stdin is not None
        guard.stdin.close()
        await until_gone(pids)
        assert await guard.wait() == 128 + signal.SIGTERM


async def test_a_killed_supervisor_leaves_nothing() -> None:
    """SIGKILL leaves the supervisor no moment to act; the kernel closes the pipe for it."""
    async with running("-c", SUPERVISOR) as (supervisor, pids):
        assert len(pids) == 2
        supervisor.kill()
        await until_gone(pids)


async def test_a_command_that_ignores_the_request_is_killed() -> None:
    """What does not stop when asked to is ended after its grace."""
    async with running("-c", IMPATIENT_GUARD, "sh", "-c", STUBBORN) as (guard, pids):
        assert guard.stdin is not None
        guard.stdin.close()
        await until_gone(pids)
        assert await guard.wait() == FORCED_EXIT_CODE


async def test_the_exit_code_is_the_commands_own() -> None:
    """The supervisor quotes it when a part fails."""
    async with running("-I", "-S", GUARD, "sh", "-c", "echo 1; exit 7") as (guard, _):
        assert await guard.wait() == 7
