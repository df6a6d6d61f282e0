"""Brokers: one for each test over bare AMQP, and one for each module of SDK tests, with a hub for each test.

Opening a link costs the SDK most of a second.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio
from azure.eventhub import EventData
from azure.eventhub.aio import EventHubConsumerClient, EventHubProducerClient, PartitionContext

from local.amqp import Accepted
from local.amqp.performatives import Disposition
from local.amqp.states import decode_state
from local.event_hubs import EventHubs

from ..amqp.client import Client, connected
from .builders import an_encoded_event
from .links import TOPOLOGY

DAY = 24 * 3600  # seconds
HUB = {"partitionCount": 4, "messageRetention": "P1D", "consumerGroups": ["$Default", "audit"]}
PATIENCE = 10.0  # seconds in which what must happen has happened
QUICK_RETRIES = {"retry_backoff_factor": 0.05, "retry_backoff_max": 0.5}


@dataclass(slots=True)
class Received:
    """What one receiving client was given."""

    events: list[tuple[str, EventData]] = field(default_factory=list)  # with their partition ids
    errors: list[Exception] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # set by every event and error

    def bodies(self, partition_id: str | None = None) -> list[str]:
        return [event.body_as_str() for name, event in self.events if partition_id in (None, name)]

    async def until(self, count: int) -> list[EventData]:
        """Wait for so many events; returns them all."""
        async with asyncio.timeout(PATIENCE):
            while len(self.events) < count:
                self.changed.clear()
                await self.changed.wait()
        return [event for _, event in self.events]

    async def failed(self) -> Exception:
        """Wait for an error; returns it."""
        async with asyncio.timeout(PATIENCE):
            while not self.errors:
                self.changed.clear()
                await self.changed.wait()
        return self.errors[0]


@dataclass(frozen=True, slots=True)
class Bench:
    """A broker, and one hub of it."""

    hubs: EventHubs
    name: str
    closing: list[asyncio.Task[None]]  # clients that take their time to close, a second and more

    @asynccontextmanager
    async def producer(self, name: str | None = None) -> AsyncIterator[EventHubProducerClient]:
        """A client that sends while the context is open."""
        producer = EventHubProducerClient.from_connection_string(
            self.hubs.connection_string, eventhub_name=name or self.name, **QUICK_RETRIES
        )
        try:
            yield producer
        finally:
            self.closing.append(asyncio.create_task(producer.close()))

    async def put(self, *bodies: str) -> None:
        """Send events to partition 0, without the SDK: where sending is not what a test is about."""
        async with connected(self.hubs.amqp_port) as client:
            await client.open()
            await client.begin()
            await client.attach_sender(f"{self.name}/Partitions/0")
            for number, body in enumerate(bodies):
                client.send_message(an_encoded_event(body.encode()), delivery_id=number)
                assert isinstance(decode_state((await client.expect(Disposition)).state), Accepted)

    async def received(self, count: int, group: str = "$Default", **wishes: Any) -> list[EventData]:
        """What a client receives that waits for so many events."""
        async with self.receiving(group, **wishes) as received:
            return await received.until(count)

    @asynccontextmanager
    async def receiving(self, group: str = "$Default", **wishes: Any) -> AsyncIterator[Received]:
        """A client that receives while the context is open; from the beginning unless told otherwise."""
        received = Received()
        client = EventHubConsumerClient.from_connection_string(
            self.hubs.connection_string, consumer_group=group, eventhub_name=self.name, **QUICK_RETRIES
        )

        async def on_event(partition: PartitionContext, event: EventData) -> None:
            received.events.append((partition.partition_id, event))
            received.changed.set()

        async def on_error(_partition: PartitionContext | None, error: Exception) -> None:
            received.errors.append(error)
            received.changed.set()

        wishes = {"starting_position": "-1"} | wishes
        reading = asyncio.create_task(client.receive(on_event=on_event, on_error=on_error, **wishes))
        try:
            yield received
        finally:
            self.closing.append(asyncio.create_task(_close(client, reading)))

    def statistics(self) -> dict[str, Any]:
        return self.hubs.statistics()[self.name]


async def _close(client: EventHubConsumerClient, reading: asyncio.Task[None]) -> None:
    # Between two looks at its partitions the client sleeps for half a minute, closed or not.
    reading.cancel()
    await asyncio.wait([reading])
    await client.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def module_bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    names = [name for name in vars(request.module) if name.startswith("test_")]
    async with EventHubs.serving({"eventHubs": dict.fromkeys(names, HUB)}) as hubs:
        bench = Bench(hubs, "", [])
        yield bench
        await asyncio.gather(*bench.closing)


@pytest.fixture
def bench(module_bench: Bench, request: pytest.FixtureRequest) -> Bench:
    """The module's broker with an untouched hub."""
    return replace(module_bench, name=request.function.__name__)


@pytest.fixture
async def hubs() -> AsyncIterator[EventHubs]:
    async with EventHubs.serving(TOPOLOGY) as hubs:
        yield hubs


@pytest.fixture
async def client(hubs: EventHubs) -> AsyncIterator[Client]:
    async with connected(hubs.amqp_port) as client:
        await client.open()
        await client.begin()
        yield client
