"""The stand-in as a process of its own, to be killed."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
START_SECONDS = 30  # starting Python takes long on a machine that others use too


@asynccontextmanager
async def started(*arguments: str) -> AsyncIterator[tuple[Process, str]]:
    """`python -m local.cosmos …` and its endpoint; killed at the end, whatever happened."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "local.cosmos", *arguments, cwd=ROOT, stdout=PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            line = (await process.stdout.readline()).decode()
        ready, endpoint = line.rsplit(maxsplit=1)
        assert ready == "cosmos ready"
        yield process, f"{endpoint}/"
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()  # to the end of its output, so that nothing of it outlives the event loop
