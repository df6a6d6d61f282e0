"""The unmodified azure-servicebus SDK, synchronous variant, against the broker."""

import asyncio

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import MessageLockLostError

from local.service_bus import ServiceBus

from .conftest import LOCK, PATIENCE, QUEUE, TOPOLOGY


def settle_everything(bus: ServiceBus, loop: asyncio.AbstractEventLoop) -> None:
    """Runs in a thread of its own, as the synchronous SDK blocks."""
    with (
        ServiceBusClient.from_connection_string(bus.connection_string) as client,
        client.get_queue_sender(QUEUE) as sender,
        client.get_queue_receiver(QUEUE, max_wait_time=PATIENCE) as receiver,
    ):
        sender.send_messages([ServiceBusMessage(f"m{number}", message_id=str(number)) for number in range(3)])
        sender.send_messages(ServiceBusMessage("copy", message_id="0"))
        received = []
        while len(received) < 3:
            received += receiver.receive_messages(3 - len(received))
        assert [str(message) for message in received] == ["m0", "m1", "m2"]
        receiver.complete_message(received[0])
        receiver.dead_letter_message(received[1], reason="r")
        loop.call_soon_threadsafe(bus.advance, LOCK)
        with pytest.raises(MessageLockLostError):
            receiver.complete_message(received[2])
        [again] = receiver.receive_messages(1)
        receiver.complete_message(again)


async def test_sync_client() -> None:
    """Send, duplicate, receive, complete, dead-letter and a lost lock, as the asyncio SDK has them."""
    async with ServiceBus.serving(TOPOLOGY) as bus:
        await asyncio.to_thread(settle_everything, bus, asyncio.get_running_loop())
        counts = bus.statistics()[QUEUE]
    outcome = {name: counts[name] for name in ("sent", "dropped_as_duplicate", "completed", "dead_letter", "active")}
    assert outcome == {"sent": 4, "dropped_as_duplicate": 1, "completed": 2, "dead_letter": 1, "active": 0}
