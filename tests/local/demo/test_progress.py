"""Progress: a moving line on a terminal, lines worth keeping in a log."""

import asyncio
import io
from collections.abc import Awaitable, Callable

import pytest

from local.demo import progress as progress_module
from local.demo.progress import ERASE_LINE, Progress


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "LIVE_SECONDS", 0.0)
    monkeypatch.setattr(progress_module, "LOG_SECONDS", 0.0)


def states(*lines: str) -> tuple[Callable[[], Awaitable[str]], asyncio.Event]:
    """Answers one line after the other; the event tells that all were asked for."""
    left, told = list(lines), asyncio.Event()

    async def state() -> str:
        if not left:
            told.set()
            await asyncio.Event().wait()
        return left.pop(0)

    return state, told


async def shown_on(stream: io.StringIO, *lines: str) -> str:
    state, told = states(*lines)
    async with Progress(stream).showing(state):
        await told.wait()
    return stream.getvalue()


async def test_a_log_gets_a_line_for_every_change() -> None:
    """Nothing is repeated while nothing happens."""
    assert await shown_on(io.StringIO(), "1 sent", "1 sent", "2 sent") == "1 sent\n2 sent\n"


async def test_a_terminal_has_one_line_that_is_written_anew() -> None:
    """And erased in the end."""
    shown = await shown_on(Terminal(), "1 sent", "1 sent")
    assert shown == f"{ERASE_LINE}1 sent{ERASE_LINE}1 sent{ERASE_LINE}"


def test_what_stays_is_not_written_into_the_moving_line() -> None:
    """The line is erased first; in a log there is none."""
    terminal, log = Terminal(), io.StringIO()
    Progress(terminal).say("worker killed")
    Progress(log).say("worker killed")
    assert terminal.getvalue() == f"{ERASE_LINE}worker killed\n"
    assert log.getvalue() == "worker killed\n"
