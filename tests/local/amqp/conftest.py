"""The engine over real sockets, with a shelf for a broker and a bare client."""

from collections.abc import AsyncIterator

import pytest

from local.amqp import AmqpServer

from .client import Client, connected
from .shelf import Shelf


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
async def server(shelf: Shelf) -> AsyncIterator[AmqpServer]:
    server = AmqpServer(shelf)
    yield server
    await server.stop()


@pytest.fixture
async def raw(server: AmqpServer) -> AsyncIterator[Client]:
    """A client that has said nothing yet."""
    async with connected(await server.start(0)) as client:
        yield client


@pytest.fixture
async def client(raw: Client) -> Client:
    """A client with an open session on channel 0."""
    await raw.open()
    await raw.begin()
    return raw
