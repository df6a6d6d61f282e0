"""A running host with the Event Hubs sample app, hubs nobody else uses, and what the app wrote down."""

import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
from azure.eventhub import EventData
from azure.eventhub.aio import EventHubProducerClient
from azure.eventhub.amqp import AmqpAnnotatedMessage
from azure.eventhub.extensions.checkpointstoreblobaio import BlobCheckpointStore

from local.host.host import FunctionsHost
from local.host.listeners.event_hubs_connection import CHECKPOINT_CONTAINER

from .waiting import eventually

EVENTS_APP = Path(__file__).parent / "event_hubs_app"
# Functions of the sample app and how many partitions their hubs have.
PARTITIONS = {"plain": 2, "stubborn": 1, "limited": 1, "texts": 1, "single": 1}
# More than there are tests with a stage of their own.
STAGES = 12


def topology() -> dict[str, Any]:
    """Hubs for every stage."""
    hubs = {
        f"{function}-{stage}": {"partitionCount": partitions, "messageRetention": "P1D"}
        for function, partitions in PARTITIONS.items()
        for stage in range(STAGES)
    }
    return {"eventHubs": hubs}


@dataclass
class Hubs:
    """The running event broker and storage account."""

    connection: str
    control: str
    storage: str
    _stages: Iterator[int] = field(default_factory=count)

    def fresh(self) -> dict[str, str]:
        """A hub that nobody has used yet, for each function of the sample app."""
        stage = next(self._stages)
        return {function: f"{function}-{stage}" for function in PARTITIONS}

    async def drop_connections(self) -> None:
        async with aiohttp.ClientSession() as session, session.post(f"{self.control}/connections/drop") as answer:
            assert answer.status == 200


def event(body: str | bytes = b"{}", **properties: object) -> EventData:
    """An event with application properties."""
    made = EventData(body)
    made.properties = dict(properties)
    return made


@dataclass
class EventStage:
    """See above; every list of event numbers begins after what the test found."""

    hubs: Hubs
    host: FunctionsHost
    names: dict[str, str]
    seen_file: Path
    checkpoints: BlobCheckpointStore
    exits: AsyncExitStack
    _producers: dict[str, EventHubProducerClient] = field(default_factory=dict)
    _seen_before: int = 0

    def begin(self) -> None:
        self._seen_before = len(self._lines())

    async def send(
        self,
        function: str,
        *events: EventData | AmqpAnnotatedMessage,
        partition: str | None = "0",
        key: str | None = None,
    ) -> None:
        """Sends all in one batch, so that they stand side by side."""
        if function not in self._producers:
            producer = EventHubProducerClient.from_connection_string(
                self.hubs.connection, eventhub_name=self.names[function]
            )
            self._producers[function] = await self.exits.enter_async_context(producer)
        where: dict[str, Any] = {"partition_key": key} if key else {"partition_id": partition}
        batch = await self._producers[function].create_batch(**where)
        for each in events:
            batch.add(each)
        await self._producers[function].send_batch(batch)

    def _lines(self) -> list[str]:
        text = self.seen_file.read_text() if self.seen_file.exists() else ""
        return text.rpartition("\n")[0].splitlines()  # the last line may still be being written

    def seen(self, function: str, partition: str = "0") -> list[dict[str, Any]]:
        """The invocations that the app wrote down since the test began."""
        seen = [json.loads(line) for line in self._lines()[self._seen_before :]]
        return [each for each in seen if each["function"] == function and partition_of(each) == partition]

    def numbers(self, function: str, partition: str = "0") -> list[int]:
        """The events of these invocations, by sequence number, in the order of their coming."""
        return [number for each in self.seen(function, partition) for number in each["numbers"]]

    def bodies(self, function: str) -> list[bytes]:
        return [base64.b64decode(body) for each in self.seen(function) for body in each["bodies"]]

    async def sees(self, function: str, number: int, partition: str = "0") -> list[dict[str, Any]]:
        """Waits until that many events have come, repeats counted."""
        await eventually(lambda: len(self.numbers(function, partition)) >= number)
        return self.seen(function, partition)

    async def delivered(self, function: str, more: int = 0) -> None:
        """Waits until the broker has handed out every event of partition 0, and so many more for the second time."""
        url = f"{self.hubs.control}/statistics"

        async def handed_out() -> bool:
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                partition = (await answer.json())["hubs"][self.names[function]]["partitions"][0]
                return bool(partition["delivered"] > partition["last_sequence_number"] + more)

        await eventually(handed_out)

    async def checkpoint(self, function: str, partition: str = "0") -> int | None:
        """The sequence number in the partition's checkpoint."""
        host = self.hubs.connection.removeprefix("Endpoint=sb://").partition(";")[0]
        found = await self.checkpoints.list_checkpoints(host, self.names[function], "$Default")
        return next((each["sequence_number"] for each in found if each["partition_id"] == partition), None)

    async def checkpointed(self, function: str, number: int, partition: str = "0") -> None:
        """Waits until the checkpoint stands at that event."""

        async def reached() -> bool:
            return await self.checkpoint(function, partition) == number

        await eventually(reached)

    async def rewind(self, function: str, partition: str, sequence_number: int) -> tuple[int, dict[str, Any]]:
        """Asks the host to read again; answers status and content."""
        body = {"function": function, "partition": partition, "sequence_number": sequence_number}
        url = f"{self.host.url}/_local/event-hubs/rewind"
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
            return answer.status, await answer.json()

    async def release(self) -> None:
        """Lets every function go on that holds its batch right now."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.host.url}/api/release") as answer:
            assert answer.status == 200

    async def release_all(self) -> None:
        """Lets every function go on that holds its batch, until none is left."""

        async def released() -> bool:
            await self.release()
            return self.host.in_flight == 0

        await eventually(released)


def partition_of(seen: dict[str, Any]) -> str:
    partition: str = seen["metadata"]["PartitionContext"]["PartitionId"]
    return partition


@asynccontextmanager
async def staged_events(
    hubs: Hubs, folder: Path, names: dict[str, str] | None = None, app: Path = EVENTS_APP, *, whole_app: bool = False
) -> AsyncIterator[EventStage]:
    """A stage of its own, with the function `plain` alone or the whole app; `names` are hubs to go on with."""
    names = names or hubs.fresh()
    seen = folder.with_suffix(".jsonl")
    settings = {f"{function.upper()}_HUB": hub for function, hub in names.items()}
    settings |= {"Hubs": hubs.connection, "AzureWebJobsStorage": hubs.storage, "SEEN": str(seen)}
    settings |= {} if whole_app else {"PLAIN_ALONE": "1"}
    async with AsyncExitStack() as exits:
        host = await exits.enter_async_context(FunctionsHost.running(app, settings))
        store = BlobCheckpointStore.from_connection_string(hubs.storage, CHECKPOINT_CONTAINER)
        await exits.enter_async_context(store)
        yield EventStage(hubs, host, names, seen, store, exits)
