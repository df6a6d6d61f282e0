"""Reads, after the run, what broker, database and storage have to say. The real SDKs ask; the app is not asked."""

import asyncio
from collections.abc import AsyncIterator

from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables.aio import TableClient
from azure.storage.blob.aio import ContainerClient

from local.stack import Stack

from ..database import read_documents
from ..topology import HUB, STOCK, Topology
from .ledger import Evidence, Parked

PARKED_ROWS = "ParkedEvents"
PARKED_BODIES = "parked-events"

READ_SECONDS = 60.0
"""For all that is read; a second is usual."""


async def gather_evidence(stack: Stack, topology: Topology) -> Evidence:
    """Read everything. Raises TimeoutError, and what the SDKs and control clients raise."""
    async with asyncio.timeout(READ_SECONDS):
        return Evidence(
            hub=(await stack.event_hubs.statistics())[HUB],
            requests=await stack.cosmos.requests(STOCK),  # before our own are among them
            documents=await read_documents(stack, topology, (STOCK,)),
            parked=[parked async for parked in _parked(stack.services.settings()["AzureWebJobsStorage"])],
        )


async def _parked(storage: str) -> AsyncIterator[Parked]:
    """All rows; none when nothing was ever parked, for then there is no table."""
    table = TableClient.from_connection_string(storage, PARKED_ROWS)
    bodies = ContainerClient.from_connection_string(storage, PARKED_BODIES)
    async with table, bodies:
        try:
            async for row in table.list_entities():
                blob = row.get("BodyBlob")
                body = await (await bodies.download_blob(blob)).readall() if blob else row["Body"]
                yield Parked(row["Reason"], body)
        except ResourceNotFoundError as error:
            if getattr(error, "error_code", None) != "TableNotFound":  # the SDK adds it
                raise
