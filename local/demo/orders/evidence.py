"""Reads, after the run, what the broker and the database have to say. The real SDKs ask; the app is not asked."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

from azure.servicebus import ServiceBusReceivedMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient

from local.stack import Stack

from ..database import read_documents
from ..topology import Topology
from .ledger import Evidence

READ_SECONDS = 60.0
"""For all that is read; a second is usual."""

PEEKED_AT_ONCE = 100
"""The service hands out as many messages as fit; a page of this size always fits."""


async def gather_evidence(stack: Stack, topology: Topology) -> Evidence:
    """Read everything. Raises TimeoutError, and what the SDKs and control clients raise."""
    containers = topology.message_containers
    async with asyncio.timeout(READ_SECONDS):
        statistics = await stack.service_bus.statistics()
        return Evidence(
            queues=tuple(statistics.values()),
            dead_letter_reasons=await _dead_letter_reasons(stack, topology),
            documents=await read_documents(stack, topology, containers),
            requests=[request for container in containers for request in await stack.cosmos.requests(container)],
        )


async def _dead_letter_reasons(stack: Stack, topology: Topology) -> Counter[str]:
    async with ServiceBusClient.from_connection_string(stack.service_bus.connection_string) as client:
        return Counter(
            [
                message.dead_letter_reason or "(no reason)"
                for queue in topology.queues
                async for message in _peek_all(client, queue)
            ]
        )


async def _peek_all(client: ServiceBusClient, queue: str) -> AsyncIterator[ServiceBusReceivedMessage]:
    async with client.get_queue_receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
        following = 0
        while page := await receiver.peek_messages(PEEKED_AT_ONCE, sequence_number=following):
            for message in page:
                yield message
                following = (message.sequence_number or 0) + 1
