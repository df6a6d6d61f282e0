"""The stream of stock movements at a person's hands: sends events, sees checkpoints and parked events, reads again."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables.aio import TableServiceClient
from azure.eventhub import EventData
from azure.eventhub.aio import EventHubProducerClient
from azure.eventhub.amqp import AmqpMessageProperties
from azure.storage.blob.aio import BlobServiceClient

from local.stack import ControlFailed

from .desk import Desk

HUB = "stock-movements"
FUNCTION = "record_movement"
_CHECKPOINTS = "azure-webjobs-eventhub"
_PARKED = "ParkedEvents"


@dataclass(frozen=True, slots=True)
class Stream:
    """What the tests do with the hub and see of it. Made by `Stream.at`."""

    desk: Desk
    """The rest of the stack."""
    producer: EventHubProducerClient
    """The real SDK, for sending."""
    blobs: BlobServiceClient
    """The real SDK, for checkpoints and large bodies."""
    tables: TableServiceClient
    """The real SDK, for parked events."""

    @classmethod
    @asynccontextmanager
    async def at(cls, desk: Desk) -> AsyncIterator[Self]:
        services = desk.stack.services
        storage = services.settings()["AzureWebJobsStorage"]
        producer = EventHubProducerClient.from_connection_string(
            services.settings()["EventHubConnection"], eventhub_name=HUB
        )
        blobs = BlobServiceClient.from_connection_string(storage)
        tables = TableServiceClient.from_connection_string(storage)
        async with producer, blobs, tables:
            yield cls(desk, producer, blobs, tables)

    async def send(self, key: str | None, events: Sequence[tuple[str | None, bytes]]) -> None:
        """Send events, given as message id and body, in one batch under a partition key."""
        batch = await self.producer.create_batch(partition_key=key)
        for message_id, body in events:
            event = EventData(body)
            event.raw_amqp_message.properties = AmqpMessageProperties(message_id=message_id)
            batch.add(event)
        await self.producer.send_batch(batch)

    async def checkpoints(self) -> dict[str, int]:
        """The sequence number up to which each partition is done."""
        done: dict[str, int] = {}
        try:
            async for blob in self.blobs.get_container_client(_CHECKPOINTS).list_blobs(include=["metadata"]):
                if "/checkpoint/" in blob.name and blob.metadata:
                    done[blob.name.rsplit("/", 1)[1]] = int(blob.metadata["sequencenumber"])
        except ResourceNotFoundError:
            return {}
        return done

    async def until_read(self) -> None:
        """Wait until every partition is checkpointed at its last event and nobody works."""

        async def done() -> bool:
            checkpoints = await self.checkpoints()
            hub = (await self.desk.stack.event_hubs.statistics())[HUB]
            return (
                all(checkpoints.get(p.id, -1) == p.last_sequence_number for p in hub.partitions)
                and not (await self.desk.host.status()).in_flight
            )

        await self.desk.until(done)

    async def replay(self) -> None:
        """Send every partition back to before its first event, and wait until all is read again."""
        for partition in (await self.desk.stack.event_hubs.statistics())[HUB].partitions:
            if partition.events:
                await self.desk.until(partial(self._rewound, partition.id))
        await self.until_read()

    async def _rewound(self, partition: str) -> bool:
        try:
            await self.desk.host.rewind(FUNCTION, partition, -1)
        except ControlFailed:  # the partitions are claimed anew after each rewind
            return False
        return True

    async def delivered_again(self) -> int:
        """Events handed out more than once so far."""
        hub = (await self.desk.stack.event_hubs.statistics())[HUB]
        return sum(partition.delivered - partition.first_delivered for partition in hub.partitions)

    async def parked(self, prefix: str) -> list[dict[str, Any]]:
        """Parked events whose body or id speaks of something that begins so."""
        rows = []
        try:
            async for row in self.tables.get_table_client(_PARKED).list_entities():
                if prefix in row.get("Message", "") or prefix.encode() in bytes(row.get("Body", b"")):
                    rows.append(dict(row))
        except ResourceNotFoundError:
            return []
        return rows

    async def blob(self, container: str, name: str) -> bytes:
        """The content of a blob."""
        download = await self.blobs.get_blob_client(container, name).download_blob()
        return bytes(await download.readall())
