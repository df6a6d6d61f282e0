"""Starting parts: ready when they say so, and errors that tell a person what to do."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from local.stack import PartFailed
from local.stack import part as part_module
from local.stack.launcher import Launcher

SAYS_READY = "print('ready on', 4711, flush=True); import time; time.sleep(600)"


@asynccontextmanager
async def launching(logs: Path) -> AsyncIterator[Launcher]:
    """A launcher whose parts end with the block."""
    async with AsyncExitStack() as exits:
        yield Launcher(exits, await exits.enter_async_context(aiohttp.ClientSession()), logs)


def python(program: str) -> list[str]:
    """A command line that runs this program."""
    return [sys.executable, "-c", program]


async def test_a_part_is_ready_when_it_says_where_it_listens(tmp_path: Path) -> None:
    """The ports it tells are those that count, not those asked for."""
    async with launching(tmp_path) as launcher:
        assert await launcher.launch("clock", python(SAYS_READY), r"ready on (\d+)", [0]) == [4711]


async def test_a_part_that_fails_is_quoted(tmp_path: Path) -> None:
    """Whoever reads the error need not look for the log."""
    async with launching(tmp_path) as launcher:
        with pytest.raises(PartFailed, match=r"(?s)clock ended with exit code 3 .*the spring is broken"):
            await launcher.launch("clock", python("print('the spring is broken'); exit(3)"), "ready", [])


async def test_a_part_that_stays_silent_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting has an end."""
    monkeypatch.setattr(part_module, "START_SECONDS", 0.3)
    async with launching(tmp_path) as launcher:
        with pytest.raises(PartFailed, match="not ready within"):
            await launcher.launch("clock", python("import time; time.sleep(600)"), "ready", [])


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    """The commonest reason for a part not to start, said before it is tried."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        async with launching(tmp_path) as launcher:
            with pytest.raises(PartFailed, match=f"clock needs port {port}, and another program has it"):
                await launcher.launch("clock", python(SAYS_READY), "ready", [port])


async def test_a_part_that_ends_later_is_noticed(tmp_path: Path) -> None:
    """A stack that has lost a part must not look as if it ran."""
    program = "print('ready', flush=True); import time; time.sleep(0.2); print('no more'); exit(4)"
    async with launching(tmp_path) as launcher:
        await launcher.launch("clock", python(program), "ready", [])
        async with asyncio.timeout(20):
            assert "ended by itself with exit code 4" in str(await launcher.parts[0].ended())
