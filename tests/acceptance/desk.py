"""A person at the local stack: sends messages, watches the broker and the database, kills, cuts and waits."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from azure.cosmos.aio import CosmosClient
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender

from local.stack import EMULATOR_KEY, Host, HostStatus, Stack

QUEUES = ("orders", "customers")
LOCK_SECONDS = 61
"""One more than the queues' lock duration: with the broker's clock moved so far every lock has expired."""
WINDOW_SECONDS = 601
"""One more than the duplicate-detection window."""
_OF_THE_DESK = ("Query", "QueryPlan")
"""What the desk itself asks the database; the app never queries."""
_DEADLINE_SECONDS = 90
"""Far longer than anything takes here; a test that waits so long has failed."""
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Desk:
    """What the acceptance tests do and see. Made by `Desk.at`."""

    stack: Stack
    """Broker, database and host."""
    senders: dict[str, ServiceBusSender]
    """The real SDK's senders, by queue."""
    dead_letter_receivers: dict[str, ServiceBusReceiver]
    """The real SDK's receivers of the dead-letter queues, by queue."""
    database: Any
    """The real SDK, for reading what was written."""

    @classmethod
    @asynccontextmanager
    async def at(cls, stack: Stack) -> AsyncIterator[Self]:
        bus = ServiceBusClient.from_connection_string(stack.service_bus.connection_string)
        cosmos = CosmosClient(stack.cosmos.endpoint, EMULATOR_KEY)
        async with bus, cosmos:
            yield cls(
                stack,
                {queue: bus.get_queue_sender(queue) for queue in QUEUES},
                {queue: bus.get_queue_receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER) for queue in QUEUES},
                cosmos.get_database_client("retail"),
            )

    @property
    def host(self) -> Host:
        return self.stack.host

    async def send(self, queue: str, body: bytes, message_id: str | None, **properties: Any) -> None:
        """Put one message on a queue."""
        await self.senders[queue].send_messages(ServiceBusMessage(body, message_id=message_id, **properties))

    async def resend(self, queue: str, body: bytes, message_id: str) -> None:
        """Put a message on a queue again, when the broker has forgotten that it saw the id."""
        await self.stack.service_bus.advance_clock(WINDOW_SECONDS)
        await self.send(queue, body, message_id)

    async def expire_locks(self) -> None:
        """Let all locks run out, so that what they held comes again."""
        await self.stack.service_bus.advance_clock(LOCK_SECONDS)

    async def until(self, condition: Callable[[], Awaitable[Any]]) -> Any:
        """Wait until a condition holds; answer what it answered."""
        async with asyncio.timeout(_DEADLINE_SECONDS):
            while not (answer := await condition()):  # noqa: ASYNC110 - what it waits for is in other processes
                await asyncio.sleep(_POLL_SECONDS)
            return answer

    async def until_held(self) -> None:
        """Wait until the database holds a request."""
        await self.until(self.stack.cosmos.holds)

    async def until_empty(self) -> None:
        """Wait until no queue has anything left to do and nobody works."""

        async def empty() -> bool:
            queues = (await self.stack.service_bus.statistics()).values()
            return not any(queue.waiting for queue in queues) and not (await self.host.status()).in_flight

        await self.until(empty)

    async def kill_worker(self) -> HostStatus:
        """SIGKILL the worker; answer what ran just before."""
        return await self.host.kill_worker()

    async def documents(self, container: str, partition: str) -> dict[str, list[dict[str, Any]]]:
        """Everything in a partition, by type."""
        found: dict[str, list[dict[str, Any]]] = {}
        query = self.database.get_container_client(container).query_items("SELECT * FROM c", partition_key=partition)
        async for item in query:
            found.setdefault(item["type"], []).append(item)
        return found

    async def dead_letters(self, queue: str, message_id: str) -> list[ServiceBusReceivedMessage]:
        """What the dead-letter queue holds under a message id."""
        letters = await self.dead_letter_receivers[queue].peek_messages(max_message_count=250)
        return [letter for letter in letters if letter.message_id == message_id]

    def app_log(self) -> str:
        """What the host and the app have printed so far."""
        (log,) = (part.log for part in self.stack.parts if part.name == "host")
        return log.read_text()

    async def requests(self, container: str, partition: str) -> list[str]:
        """What the app asked the database for a partition, in order."""
        records = await self.stack.cosmos.requests(container)
        return [
            record.operation
            for record in records
            if record.partition_key == (partition,) and record.operation not in _OF_THE_DESK
        ]
