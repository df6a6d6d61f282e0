"""The Functions host's part of the stack: how it is started, and a typed client of its status endpoint."""

import asyncio
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .channel import Channel, ControlFailed
from .launcher import Launcher, module

ANNOUNCEMENT = r"host ready http://\S+?:(\d+)"

RUNNING_SECONDS = 30.0
"""A worker starts in well under a second; on a busy machine in a few."""

POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class HostStatus:
    """The host at one moment."""

    state: str
    """Starting, Running or Error."""
    worker_pid: int | None
    """The worker's process id, None while there is none."""
    worker_starts: int
    """How often a worker was started."""
    functions: tuple[str, ...]
    """The names of the indexed functions."""
    in_flight: int
    """Invocations running now."""
    error: str | None
    """Why the state is Error."""

    @classmethod
    def from_json(cls, status: dict[str, Any]) -> Self:
        worker = status.get("worker") or {}
        names = tuple(each if isinstance(each, str) else str(each["name"]) for each in status["functions"])
        starts = int(worker.get("starts", 0))
        return cls(status["state"], worker.get("pid"), starts, names, int(status["in_flight"]), status.get("error"))


@dataclass(frozen=True, slots=True)
class Host:
    """The running host."""

    url: str
    """Where it serves HTTP triggers: url + /api/<route>."""
    channel: Channel
    """Its admin endpoint."""

    async def status(self) -> HostStatus:
        """The host now. Raises ControlFailed when it does not answer."""
        return HostStatus.from_json(await self.channel.call("GET", "/admin/host/status"))

    async def kill_worker(self) -> HostStatus:
        """SIGKILL the worker process; answer the status just before. Raises ControlFailed when there is none."""
        status = await self.status()
        if status.worker_pid is None:
            raise ControlFailed(f"host has no worker to kill: {status}")
        os.kill(status.worker_pid, signal.SIGKILL)
        return status

    async def wait_running(self, *, after: HostStatus | None = None, seconds: float = RUNNING_SECONDS) -> HostStatus:
        """Wait until the host runs; `after` a kill with a newer worker than that one. Raises ControlFailed."""
        starts = 0 if after is None else after.worker_starts
        try:
            async with asyncio.timeout(seconds):
                while True:
                    status = await self.status()
                    if status.state == "Running" and status.worker_starts > starts:
                        return status
                    if status.state == "Error":
                        raise ControlFailed(f"host cannot run the app: {status.error}")
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            raise ControlFailed(f"host does not run after {seconds:.0f} s: {status}") from error

    async def rewind(self, function: str, partition: str, sequence_number: int) -> None:
        """Let an Event Hubs function read a partition again from behind this event, -1 for all of it.

        What the function has in hand then may end first. Raises ControlFailed when this host does not read the
        partition now.
        """
        where = {"function": function, "partition": partition, "sequence_number": sequence_number}
        await self.channel.call("POST", "/_local/event-hubs/rewind", where)


async def start_host(launcher: Launcher, port: int, app: Path, settings: Mapping[str, str]) -> Host:
    """Start the host on an app folder with these app settings. Raises PartFailed, ControlFailed."""
    command = module("local.host", "--app", str(app), "--port", str(port))
    (real_port,) = await launcher.launch("host", command, ANNOUNCEMENT, (port,), environment=settings)
    channel = launcher.channel("host", real_port)
    host = Host(channel.base, channel)
    await host.wait_running()
    return host
