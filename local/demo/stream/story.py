"""Streams the planned events while workers die, has a partition read again, and waits until nothing is left to do."""

import asyncio
from dataclasses import dataclass, field

from azure.core.exceptions import ResourceNotFoundError
from azure.eventhub import EventData
from azure.eventhub.aio import EventHubProducerClient
from azure.storage.blob.aio import ContainerClient

from local.stack import HubStatistics, Stack

from ..crash import Moment, kill_while_committing
from ..progress import Progress
from ..standstill import until
from ..topology import HUB
from .plan import Batch, Plan

FUNCTION = "record_movement"
"""Reads the hub."""

CHECKPOINTS = "azure-webjobs-eventhub"
"""The container in which the Event Hubs extension keeps them."""

SEND_SECONDS = 20.0
"""A batch takes milliseconds; the first opens a link, which takes a second."""

NOTHING_READ = -1
"""Sequence number of a checkpoint before the first event."""


async def tell(plan: Plan, stack: Stack, progress: Progress) -> None:
    """Send everything; return when every checkpoint is at its partition's end.

    Raises Standstill, ControlFailed, EventHubError, AzureError.
    """
    producer = EventHubProducerClient.from_connection_string(stack.event_hubs.connection_string, eventhub_name=HUB)
    storage = stack.services.settings()["AzureWebJobsStorage"]
    async with producer, ContainerClient.from_connection_string(storage, CHECKPOINTS) as checkpoints:
        await _Story(stack, producer, checkpoints, progress).tell(plan)


@dataclass(frozen=True, slots=True)
class Situation:
    """How things are at one moment. Only checkpoints are progress: a batch that fails is tried again for ever."""

    hub: HubStatistics = field(compare=False)
    """As the broker counts."""
    checkpoints: dict[str, int]
    """By partition: the sequence number of the last event that is done with."""
    in_flight: int = field(compare=False)
    """Batches at work in the host."""

    @property
    def behind(self) -> int:
        """Events that no checkpoint has passed yet."""
        return sum(
            max(0, partition.last_sequence_number - self.checkpoints.get(partition.id, NOTHING_READ))
            for partition in self.hub.partitions
        )

    @property
    def is_idle(self) -> bool:
        """Every event is done with, and nobody works."""
        return not self.behind and not self.in_flight

    def __str__(self) -> str:
        return f"{self.hub.sent:>6} sent{self.hub.delivered:>6} delivered{self.behind:>6} not yet behind a checkpoint"


class _Story:
    """One run."""

    def __init__(
        self, stack: Stack, producer: EventHubProducerClient, checkpoints: ContainerClient, progress: Progress
    ) -> None:
        self._stack = stack
        self._producer = producer
        self._checkpoints = checkpoints
        self._progress = progress

    async def tell(self, plan: Plan) -> None:
        async with self._progress.showing(self._state):
            for batch in plan.batches:
                if batch.crash is None:
                    await self._send(batch)
                else:
                    await self._crash_on(batch, batch.crash)
            await until(self._look, lambda now: now.is_idle)
            if plan.batches:
                await self._read_again(plan.kept)

    async def _send(self, batch: Batch) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            together = await self._producer.create_batch(partition_key=batch.key)
            for event in batch.events:
                sent = EventData(event.body)
                if event.message_id is not None:
                    sent.message_id = event.message_id
                sent.content_type = "application/json"
                together.add(sent)
            await self._producer.send_batch(together)

    async def _crash_on(self, batch: Batch, moment: Moment) -> None:
        """Send a batch and kill the worker while a commit, of this one or another, is in the database's hands."""
        killed = await kill_while_committing(self._stack, moment, lambda: self._send(batch))
        self._progress.say(
            f"Worker {killed.worker_pid} killed {moment} a commit was carried out,"
            f" {killed.in_flight} invocations in hand."
        )

    async def _read_again(self, kept: float) -> None:
        """Send the fullest partition back to an old checkpoint, as an operator or a lost checkpoint would."""
        partition = max((await self._look()).hub.partitions, key=lambda each: each.events)
        first = int(kept * partition.events)
        await self._stack.host.rewind(FUNCTION, partition.id, first - 1)
        self._progress.say(
            f"Partition {partition.id} is read again from an old checkpoint: {partition.events - first} events."
        )
        await until(self._look, lambda now: now.is_idle)

    async def _look(self) -> Situation:
        # The broker first: a checkpoint cannot lag behind what came later.
        hub = (await self._stack.event_hubs.statistics())[HUB]
        checkpoints = await self._read_checkpoints()
        return Situation(hub, checkpoints, (await self._stack.host.status()).in_flight)

    async def _read_checkpoints(self) -> dict[str, int]:
        """By partition; none before the first is written, for then there is no container."""
        numbers: dict[str, int] = {}
        try:
            async for blob in self._checkpoints.list_blobs(include=["metadata"]):
                # Name: namespace/hub/group/checkpoint/partition, as `BlobCheckpointStore` writes it.
                _, hub, _, kind, partition = blob.name.split("/")
                if (hub, kind) == (HUB, "checkpoint"):
                    numbers[partition] = int(blob.metadata["sequencenumber"])
        except ResourceNotFoundError:
            return {}
        return numbers

    async def _state(self) -> str:
        return str(await self._look())
