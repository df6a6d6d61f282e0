"""One part of the stack as a child process: started, heard to be ready, stopped; its output kept in a log file."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path
from typing import Self

GUARD = Path(__file__).with_name("guard.py")

START_SECONDS = 60.0
"""A part silent for so long will not come. Azurite, the slowest, takes 3 s on a free machine; few machines are free."""

STOP_SECONDS = 25.0
"""The guard ends a part within 15 s, whatever the part does; the rest is for a busy machine."""

POLL_SECONDS = 0.05
QUOTED_LINES = 15
"""How much of a failed part's output an error quotes: a traceback's tail and the lines before it."""


class PartFailed(Exception):
    """A part did not start, or ended by itself; the message quotes its last output lines."""


@dataclass(frozen=True, slots=True)
class Command:
    """How to start one part."""

    name: str
    """What people see, and the log file's name."""
    arguments: Sequence[str]
    """The command line."""
    announcement: str
    """Regular expression for what the part prints once it listens; its groups are the real ports."""
    directory: Path
    """Working directory."""
    environment: Mapping[str, str]
    """What is added to this process's environment."""


class Part:
    """A started part. Made by `Part.start`."""

    def __init__(self, command: Command, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name = command.name
        self.log = log
        self._announcement = re.compile(command.announcement, re.DOTALL)
        self._process = process

    @classmethod
    async def start(cls, command: Command, log_directory: Path) -> Self:
        """Start the command beneath its guard. Raises PartFailed when the guard cannot run."""
        log = log_directory / f"{command.name}.log"
        with _new(log) as output:
            try:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", str(GUARD)),
                    *command.arguments,
                    stdin=subprocess.PIPE,  # held open for as long as the part shall run, see guard.py
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=command.directory,
                    env={**os.environ, "PYTHONUNBUFFERED": "1", **command.environment},
                    start_new_session=True,  # a terminal's Ctrl-C is for the supervisor alone
                )
            except OSError as error:
                raise PartFailed(f"{command.name} cannot be started: {error}") from error
        return cls(command, process, log)

    async def announced(self) -> re.Match[str]:
        """Wait until the part says where it listens. Raises PartFailed when it ends first or stays silent too long."""
        try:
            async with asyncio.timeout(START_SECONDS):
                while True:
                    ended = self._process.returncode is not None  # asked before the look, so that last words are heard
                    if match := self._announcement.search(self._output()):
                        return match
                    if ended:
                        raise self.failure(f"ended with exit code {self._process.returncode} instead of starting")
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            raise self.failure(f"was not ready within {START_SECONDS:.0f} s") from error

    async def ended(self) -> PartFailed:
        """Wait until the part ends by itself; answer the error that says so."""
        code = await self._process.wait()
        return self.failure(f"ended by itself with exit code {code}")

    async def stop(self) -> None:
        """End the part and all it started. Does nothing when it has ended already."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        async with asyncio.timeout(STOP_SECONDS):
            await self._process.wait()

    def failure(self, what: str) -> PartFailed:
        """The error that says what went wrong and quotes the part's last words."""
        lines = self._output().splitlines()[-QUOTED_LINES:] or ["(it printed nothing)"]
        quoted = "\n".join(f"  | {line}" for line in lines)
        return PartFailed(f"{self.name} {what}. Its last output ({self.log}):\n{quoted}")

    def _output(self) -> str:
        return self.log.read_text(errors="replace")


def _new(log: Path) -> BufferedWriter:
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)  # not emptied: another stack may still write to it
    return log.open("xb")
