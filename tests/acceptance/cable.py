"""A cable between the app and a service, for a test to pull."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Self


class Cable:
    """Carries TCP connections to a port of this machine, until it is pulled. Made by `Cable.to`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._whole = True
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0
        """Where to connect instead."""
        self.refused = 0
        """Connections that were tried while it was pulled."""

    @classmethod
    @asynccontextmanager
    async def to(cls, port: int) -> AsyncIterator[Self]:
        cable = cls(port)
        server = await asyncio.start_server(cable._connected, "127.0.0.1", 0)
        cable.port = server.sockets[0].getsockname()[1]
        try:
            yield cable
        finally:
            server.close()
            cable.pull()

    def pull(self) -> None:
        """Cut every connection, and each new one at once."""
        self._whole = False
        for writer in self._open:
            writer.transport.abort()

    def plug(self) -> None:
        """Carry connections again."""
        self._whole = True

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            self.refused += 1
            writer.transport.abort()
            return
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", self._target)
        await asyncio.gather(self._carry(reader, their_writer), self._carry(their_reader, writer))

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._open.add(sink)
        with suppress(ConnectionError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        self._open.discard(sink)
        sink.close()
