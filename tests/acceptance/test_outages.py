"""Services that are gone for a while: the stream waits, and goes on where it was."""

import logging
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from local.host.host import FunctionsHost
from local.stack import Stack
from local.stack.launcher import ROOT

from .cable import Cable
from .desk import Desk
from .movements import level, movements, of
from .stream import HUB, Stream


@dataclass(frozen=True, slots=True)
class Site:
    """An app whose cables to storage and database can be pulled."""

    desk: Desk
    stream: Stream
    storage: list[Cable]
    database: Cable

    async def until_read(self) -> None:
        """Wait until every partition is checkpointed at its last event."""

        async def done() -> bool:
            partitions = (await self.desk.stack.event_hubs.statistics())[HUB].partitions
            checkpoints = await self.stream.checkpoints()
            return all(checkpoints.get(p.id, -1) == p.last_sequence_number for p in partitions)

        await self.desk.until(done)


async def cabled(cables: AsyncExitStack, text: str) -> tuple[str, list[Cable]]:
    """A connection string with a cable at every port in it."""
    ports = sorted(set(re.findall(r"127\.0\.0\.1:(\d+)", text)))
    made = [await cables.enter_async_context(Cable.to(int(port))) for port in ports]
    for port, cable in zip(ports, made, strict=True):
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{cable.port}")
    return text, made


@pytest.fixture
async def site(tmp_path) -> AsyncIterator[Site]:
    """The whole stack with the host in this process, everything cabled."""
    async with AsyncExitStack() as cables, Stack.running(host=False, azurite=True, logs=tmp_path) as stack:
        settings = stack.services.settings()
        settings["AzureWebJobsStorage"], storage = await cabled(cables, settings["AzureWebJobsStorage"])
        settings["CosmosConnection"], (database,) = await cabled(cables, settings["CosmosConnection"])
        async with FunctionsHost.running(ROOT, settings), Desk.at(stack) as desk, Stream.at(desk) as stream:
            yield Site(desk, stream, storage, database)


async def test_storage_is_gone_while_an_event_has_to_be_parked(site):
    """The good event counts once; the poison is parked when storage is back, and only then the checkpoint moves."""
    await site.stream.send("A1", movements("A1", 1))
    await site.until_read()
    for cable in site.storage:
        cable.pull()
    refused = sum(cable.refused for cable in site.storage)
    good = movements("A1", 2)[1]
    await site.stream.send("A1", [("A1-bad", b"A1 is broken"), good])

    async def parking_was_tried() -> bool:
        written = await level(site.desk, "A1") == of(2)
        return written and sum(cable.refused for cable in site.storage) > refused

    await site.desk.until(parking_was_tried)
    assert await site.stream.parked("A1") == []
    for cable in site.storage:
        cable.plug()
    await site.until_read()
    assert [row["Reason"] for row in await site.stream.parked("A1")] == ["Malformed"]
    assert await level(site.desk, "A1") == of(2)


async def test_the_database_is_gone_for_longer_than_our_patience(site, caplog):
    """The invocation gives up, the retry policy does not: the same batch runs again until the database is back."""
    caplog.set_level(logging.INFO, "local.host")
    await site.stream.send("A2", movements("A2", 3))
    await site.until_read()
    site.database.pull()
    await site.stream.send("A2", movements("A2", 10))

    async def given_up_once() -> bool:
        return any(
            "record_movement" in record.getMessage() and "retr" in record.getMessage() for record in caplog.records
        )

    await site.desk.until(given_up_once)
    assert await level(site.desk, "A2") == of(3)
    site.database.plug()
    await site.until_read()
    assert await level(site.desk, "A2") == of(10)
    assert await site.stream.parked("A2") == []
