"""The worker process: one app, one event loop, one socket to the host."""

import asyncio
import logging
import os
import socket
import sys
from pathlib import Path

from local.host import wire

from . import runtime
from .channel import Channel

# What the process ends with when a function called sys.exit(): the invocation is lost, and the host starts another.
EXITED_BY_FUNCTION = 1


def main() -> None:
    """Serves the app in the current directory until the host closes the socket on standard input."""
    asyncio.run(_serve(_take_standard_input(), str(Path.cwd())))


async def _serve(connection: socket.socket, app_dir: str) -> None:
    channel = Channel(connection)
    logging.getLogger().addHandler(_LogHandler(channel))
    logging.getLogger().setLevel(logging.INFO)
    running: set[asyncio.Task[None]] = set()

    def on_invoke(request: wire.Invoke) -> None:
        task = asyncio.get_running_loop().create_task(_run(request, channel))
        running.add(task)
        task.add_done_callback(running.discard)

    channel.start(asyncio.get_running_loop(), on_invoke)
    channel.send(await runtime.index(app_dir))
    await asyncio.Event().wait()


async def _run(request: wire.Invoke, channel: Channel) -> None:
    try:
        channel.send(await runtime.invoke(request))
    except asyncio.CancelledError as error:
        # Escapes the library; production would never answer. An answer that says so is kinder than a hang.
        channel.send(wire.Result(request.invocation_id, f"CancelledError: {error}"))
    except (SystemExit, KeyboardInterrupt):
        os._exit(EXITED_BY_FUNCTION)  # escapes the library too, and ends production's worker


class _LogHandler(logging.Handler):
    """Sends each record to the host, tagged with the invocation it belongs to."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        if not runtime.is_system_noise(record):
            invocation_id = runtime.current_invocation_id()
            self._channel.send(wire.Log(invocation_id, record.levelno, record.name, self.format(record)))


def _take_standard_input() -> socket.socket:
    # The app's code must not be able to read the host's frames from standard input by accident.
    connection = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return connection
