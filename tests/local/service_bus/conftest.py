"""A queue for each test of its rules; one broker and one SDK connection for each module of SDK tests.

Opening a link costs the SDK most of a second.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender

from local.broker import Clock
from local.service_bus import ServiceBus
from local.service_bus.queue import Queue

from .builders import a_queue, still_clock

QUEUE = "orders"
LOCK = 60  # seconds, as in the topology below
WINDOW = 600
LIFE = 3600
MAX_DELIVERIES = 3
TOPOLOGY = {
    "queues": {
        QUEUE: {
            "lockDuration": "PT1M",
            "maxDeliveryCount": MAX_DELIVERIES,
            "defaultMessageTimeToLive": "PT1H",
            "duplicateDetectionHistoryTimeWindow": "PT10M",
        }
    }
}
PATIENCE = 3.0  # seconds in which a message that is there arrives
GLANCE = 0.3  # seconds in which a message that should not be there would have arrived


@dataclass(frozen=True, slots=True)
class Bench:
    """A broker with an SDK client at work on its one queue."""

    bus: ServiceBus
    client: ServiceBusClient
    sender: ServiceBusSender
    receiver: ServiceBusReceiver

    async def send(self, *messages: ServiceBusMessage) -> None:
        await self.sender.send_messages(list(messages))

    async def receive(self) -> ServiceBusReceivedMessage:
        """The next message, which must come."""
        [message] = await self.receiver.receive_messages(1, max_wait_time=PATIENCE)
        return message

    async def receives_nothing(self) -> bool:
        return await self.receiver.receive_messages(1, max_wait_time=GLANCE) == []

    def dead_letters(self) -> ServiceBusReceiver:
        return self.client.get_queue_receiver(QUEUE, sub_queue="deadletter", max_wait_time=PATIENCE)

    def counts(self) -> dict[str, int]:
        return self.bus.statistics()[QUEUE]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def module_bench() -> AsyncIterator[Bench]:
    async with (
        ServiceBus.serving(TOPOLOGY) as bus,
        ServiceBusClient.from_connection_string(bus.connection_string, retry_backoff_factor=0.05) as client,
        client.get_queue_sender(QUEUE) as sender,
        client.get_queue_receiver(QUEUE, max_wait_time=PATIENCE) as receiver,
    ):
        yield Bench(bus, client, sender, receiver)


@pytest_asyncio.fixture(loop_scope="module")
async def bench(module_bench: Bench) -> AsyncIterator[Bench]:
    """The module's bench, found and left with an empty queue."""
    yield module_bench
    counts = module_bench.counts()
    left = {name: counts[name] for name in ("active", "locked", "scheduled", "deferred", "dead_letter") if counts[name]}
    if left:
        pytest.fail(f"the test left messages for the next one: {left}")


@pytest.fixture
def clock() -> Clock:
    return still_clock()


@pytest.fixture
def queue(clock: Clock) -> Queue:
    return a_queue(clock)
