"""The worker's end of the socket to the host, served by two threads.

Threads, because the app's own code runs on the event loop: a handler that blocks it must not keep the process from
noticing that the host is gone, and a full socket must not block the loop.
"""

import asyncio
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable

from local.host import wire


class Channel:
    """Frames to and from the host process."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def start(self, loop: asyncio.AbstractEventLoop, on_invoke: Callable[[wire.Invoke], None]) -> None:
        """Begins to read and write; each request is handed to `on_invoke` on the loop."""
        threading.Thread(target=self._read, args=(loop, on_invoke), name="host-reader", daemon=True).start()
        threading.Thread(target=self._write, name="host-writer", daemon=True).start()

    def send(self, frame: wire.Frame) -> None:
        """Queues a frame; callable from any thread, never blocks."""
        self._outgoing.put(wire.pack(frame))

    def _read(self, loop: asyncio.AbstractEventLoop, on_invoke: Callable[[wire.Invoke], None]) -> None:
        with self._connection.makefile("rb") as stream:
            while len(prefix := stream.read(wire.LENGTH.size)) == wire.LENGTH.size:
                (length,) = wire.LENGTH.unpack(prefix)
                frame = wire.unpack(stream.read(length))
                if isinstance(frame, wire.Invoke):
                    loop.call_soon_threadsafe(on_invoke, frame)
        # The host closed the socket or died. No clean-up of the app's: production kills its workers the same way.
        # The worker leads its process group, so that whatever the app has started goes with it.
        sys.stdout.flush()
        os.killpg(os.getpgrp(), signal.SIGKILL)

    def _write(self) -> None:
        while True:
            try:
                self._connection.sendall(self._outgoing.get())
            except OSError:
                return  # the reading thread sees the same and ends the process
