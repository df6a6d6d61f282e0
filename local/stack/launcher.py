"""Starts parts one by one and remembers them, so that they end in the reverse order."""

import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from .channel import Channel
from .part import Command, Part, PartFailed

ROOT = Path(__file__).parents[2]
"""The checkout, from which parts are started as modules."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """What every part needs to start."""

    exits: AsyncExitStack
    """Ends the parts, last started first."""
    session: aiohttp.ClientSession
    """For control calls."""
    logs: Path
    """The folder that the parts' output goes to."""
    parts: list[Part] = field(default_factory=list)
    """Started so far."""

    async def launch(
        self,
        name: str,
        arguments: Sequence[str],
        announcement: str,
        ports: Sequence[int],
        environment: Mapping[str, str] | None = None,
    ) -> list[int]:
        """Start a part and wait until it listens; answer its real ports. Raises PartFailed.

        `announcement` is a pattern of the line that tells the ports; `ports` are those asked for, 0 for a free one;
        `environment` is added to this process's own.
        """
        for port in filter(None, ports):
            _require_free(port, name)
        part = await Part.start(Command(name, arguments, announcement, ROOT, environment or {}), self.logs)
        self.exits.push_async_callback(part.stop)
        self.parts.append(part)
        return [int(port) for port in (await part.announced()).groups()]

    def channel(self, part: str, port: int) -> Channel:
        """Control calls to a part on this port."""
        return Channel(part, f"http://127.0.0.1:{port}", self.session)


def module(name: str, *arguments: str) -> tuple[str, ...]:
    """The command line of a part that is one of our modules."""
    return (sys.executable, "-m", name, *arguments)


def _require_free(port: int, part: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that only lingers from a past run is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise PartFailed(
                f"{part} needs port {port}, and another program has it. Stop that program first."
            ) from error
