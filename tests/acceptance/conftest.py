"""One stack for all acceptance tests, and a clean desk for each."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from local.stack import Stack

from .desk import Desk
from .stream import Stream


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stack(tmp_path_factory) -> AsyncIterator[Stack]:
    """Broker, database and host with the app, as child processes."""
    logs: Path = tmp_path_factory.mktemp("logs")
    async with Stack.running(azurite=True, logs=logs) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def open_desk(stack: Stack) -> AsyncIterator[Desk]:
    """Connections that all tests use: opening a link takes the SDK most of a second."""
    async with Desk.at(stack) as desk:
        yield desk


@pytest_asyncio.fixture(loop_scope="session")
async def desk(open_desk: Desk) -> AsyncIterator[Desk]:
    """The desk; afterwards the broker must be empty, whatever was done to it."""
    yield open_desk
    await open_desk.stack.cosmos.clear_faults()
    await open_desk.stack.cosmos.release()
    await open_desk.until_empty()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stream(open_desk: Desk) -> AsyncIterator[Stream]:
    """Connections to the hub and to storage that all tests use."""
    async with Stream.at(open_desk) as stream:
        yield stream
