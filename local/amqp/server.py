"""Listens for AMQP connections on the loopback interface."""

import asyncio

from .connection import Connection
from .ports import Container

LOOPBACK = "127.0.0.1"


class AmqpServer:
    """A listener and its open connections."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._connections: set[Connection] = set()
        self._listener: asyncio.Server | None = None

    async def start(self, port: int) -> int:
        """Listen on `port`, or on a free one for 0. Returns the port; raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(self._connected, LOOPBACK, port)
        bound: int = self._listener.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Stop listening and end every connection."""
        if self._listener is None:
            return
        self._listener.close()
        for connection in list(self._connections):
            connection.shut_down()
        self._listener.abort_clients()  # a client that does not read must not keep us
        await self._listener.wait_closed()

    def drop_connections(self) -> int:
        """Cut every connection without a word, as a broken network does. Returns how many there were."""
        dropped = list(self._connections)
        for connection in dropped:
            connection.abort()
        return len(dropped)

    def _connected(self) -> Connection:
        connection = Connection(self._container, self._connections.discard)
        self._connections.add(connection)
        return connection
