"""The unmodified azure-servicebus SDK (asyncio) against the broker: sending, receiving, settling."""

import uuid
from datetime import timedelta

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusMessageState, ServiceBusReceiveMode
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageProperties
from azure.servicebus.exceptions import (
    MessageLockLostError,
    MessageNotFoundError,
    MessageSizeExceededError,
    MessagingEntityNotFoundError,
    ServiceBusError,
)

from .conftest import LIFE, LOCK, MAX_DELIVERIES, PATIENCE, QUEUE, WINDOW, Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_single_message(bench: Bench) -> None:
    """A message arrives as it was sent, types of its properties included, with what the broker says about it."""
    properties = {"i": 1, "f": 1.5, "s": "x", "u": uuid.uuid4(), "b": True}
    sent = ServiceBusMessage(
        b"\x00body",
        message_id="single",
        subject="s",
        content_type="x/y",
        correlation_id="c",
        application_properties=properties,
    )
    await bench.send(sent)
    message = await bench.receive()
    assert b"".join(message.body) == b"\x00body"
    assert (message.message_id, message.subject, message.content_type) == ("single", "s", "x/y")
    assert message.application_properties == {name.encode(): value for name, value in properties.items()} | {b"s": b"x"}
    assert message.delivery_count == 0
    assert message.sequence_number
    assert message.time_to_live == timedelta(seconds=LIFE)
    assert abs(message.enqueued_time_utc - bench.bus.clock.now()) < timedelta(seconds=LOCK)
    assert message.locked_until_utc > message.enqueued_time_utc
    await bench.receiver.complete_message(message)
    assert await bench.receives_nothing()


async def test_batch(bench: Bench) -> None:
    """A batch arrives whole and in order."""
    batch = await bench.sender.create_message_batch()
    assert batch.max_size_in_bytes == 256 * 1024
    for number in range(20):
        batch.add_message(ServiceBusMessage(f"b{number}"))
    await bench.sender.send_messages(batch)
    received = []
    while len(received) < 20:
        for message in await bench.receiver.receive_messages(20, max_wait_time=PATIENCE):
            received.append(str(message))
            await bench.receiver.complete_message(message)
    assert received == [f"b{number}" for number in range(20)]


async def test_large_message(bench: Bench) -> None:
    """A message of many frames arrives whole."""
    body = bytes(range(256)) * 900
    await bench.send(ServiceBusMessage(body))
    message = await bench.receive()
    assert b"".join(message.body) == body
    await bench.receiver.complete_message(message)


async def test_too_large(bench: Bench) -> None:
    """A message above the Standard tier's limit is refused by its name, and the sender goes on working."""
    with pytest.raises(MessageSizeExceededError):
        await bench.sender.send_messages(ServiceBusMessage(bytes(257 * 1024)))
    await bench.send(ServiceBusMessage("small"))
    await bench.receiver.complete_message(await bench.receive())


async def test_batches_are_atomic(bench: Bench) -> None:
    """One message with an id that is too long, and the whole batch is refused."""
    too_long = AmqpAnnotatedMessage(data_body=b"2", properties=AmqpMessageProperties(message_id="x" * 129))
    with pytest.raises(ServiceBusError, match="128"):
        await bench.sender.send_messages([ServiceBusMessage("1"), too_long])
    assert bench.counts()["active"] == 0


async def test_receive_and_delete(bench: Bench) -> None:
    """In receive-and-delete mode a message is gone when it is delivered."""
    mode = ServiceBusReceiveMode.RECEIVE_AND_DELETE
    async with bench.client.get_queue_receiver(QUEUE, receive_mode=mode) as receiver:
        await bench.send(ServiceBusMessage("gone"))
        [message] = await receiver.receive_messages(1, max_wait_time=PATIENCE)
    assert str(message) == "gone"
    assert bench.counts()["locked"] == 0


async def test_schedule_and_cancel(bench: Bench) -> None:
    """A scheduled message can be seen, cancelled, and comes when the broker's clock says so."""
    later = bench.bus.clock.now() + timedelta(hours=1)
    numbers = await bench.sender.schedule_messages([ServiceBusMessage("stays"), ServiceBusMessage("goes")], later)
    peeked = await bench.receiver.peek_messages(2, sequence_number=numbers[0])
    assert [(str(message), message.state) for message in peeked] == [
        ("stays", ServiceBusMessageState.SCHEDULED),
        ("goes", ServiceBusMessageState.SCHEDULED),
    ]
    await bench.sender.cancel_scheduled_messages(numbers[1])
    assert await bench.receives_nothing()
    bench.bus.advance(3601)
    message = await bench.receive()
    assert str(message) == "stays"
    assert message.scheduled_enqueue_time_utc is not None
    await bench.receiver.complete_message(message)
    with pytest.raises(MessageNotFoundError):
        await bench.sender.cancel_scheduled_messages(numbers[0])


async def test_abandon(bench: Bench) -> None:
    """An abandoned message comes back at once, counted."""
    await bench.send(ServiceBusMessage("again"))
    await bench.receiver.abandon_message(await bench.receive())
    message = await bench.receive()
    assert (str(message), message.delivery_count) == ("again", 1)
    await bench.receiver.complete_message(message)


async def test_dead_letter(bench: Bench) -> None:
    """A dead-lettered message is peeked at and received from the dead-letter queue, with reason and description."""
    await bench.send(ServiceBusMessage("poison", application_properties={"kept": "yes"}))
    await bench.receiver.dead_letter_message(await bench.receive(), reason="Malformed", error_description="no total")
    async with bench.dead_letters() as receiver:
        [peeked] = await receiver.peek_messages(1)
        assert str(peeked) == "poison"
        [dead] = await receiver.receive_messages(1)
        assert (dead.dead_letter_reason, dead.dead_letter_error_description) == ("Malformed", "no total")
        assert dead.application_properties[b"kept"] == b"yes"
        await receiver.complete_message(dead)


async def test_defer(bench: Bench) -> None:
    """A deferred message is received by its number and settled; after that there is none with this number."""
    await bench.send(ServiceBusMessage("later"))
    message = await bench.receive()
    await bench.receiver.defer_message(message)
    assert await bench.receives_nothing()
    [deferred] = await bench.receiver.receive_deferred_messages(message.sequence_number)
    assert (str(deferred), deferred.state) == ("later", ServiceBusMessageState.DEFERRED)
    await bench.receiver.complete_message(deferred)
    with pytest.raises(MessageNotFoundError):
        await bench.receiver.receive_deferred_messages(message.sequence_number)


async def test_peek(bench: Bench) -> None:
    """Peeking shows messages in order without taking them, and nothing when there is nothing."""
    assert await bench.receiver.peek_messages(5, sequence_number=1) == []
    await bench.send(ServiceBusMessage("p1"), ServiceBusMessage("p2"))
    assert [str(message) for message in await bench.receiver.peek_messages(5, sequence_number=1)] == ["p1", "p2"]
    for _ in range(2):
        await bench.receiver.complete_message(await bench.receive())


async def test_renewed_lock(bench: Bench) -> None:
    """A renewed lock outlives its first end."""
    await bench.send(ServiceBusMessage("slow"))
    message = await bench.receive()
    first_end = message.locked_until_utc
    bench.bus.advance(LOCK - 10)
    assert await bench.receiver.renew_message_lock(message) > first_end
    bench.bus.advance(LOCK - 10)
    await bench.receiver.complete_message(message)


async def test_lost_lock(bench: Bench) -> None:
    """After the lock has expired a late settlement or renewal is told so, and the message is delivered again."""
    await bench.send(ServiceBusMessage("late"))
    message = await bench.receive()
    bench.bus.advance(LOCK)
    with pytest.raises(MessageLockLostError):
        await bench.receiver.renew_message_lock(message)
    with pytest.raises(MessageLockLostError):
        await bench.receiver.complete_message(message)
    again = await bench.receive()
    assert (str(again), again.delivery_count) == ("late", 1)
    await bench.receiver.complete_message(again)


async def test_closing_a_receiver_keeps_its_locks(bench: Bench) -> None:
    """What a closed receiver was given stays locked until the lock ends."""
    await bench.send(ServiceBusMessage("held"))
    async with bench.client.get_queue_receiver(QUEUE) as other:
        await other.receive_messages(1, max_wait_time=PATIENCE)
    assert await bench.receives_nothing()
    assert bench.counts()["locked"] == 1
    bench.bus.advance(LOCK)
    await bench.receiver.complete_message(await bench.receive())


async def test_duplicate_detection(bench: Bench) -> None:
    """A MessageId counts once within the window, also inside one batch, and anew after it."""
    before = bench.counts()["dropped_as_duplicate"]
    await bench.send(ServiceBusMessage("first", message_id="same"), ServiceBusMessage("copy", message_id="same"))
    await bench.receiver.complete_message(await bench.receive())
    bench.bus.advance(WINDOW - LOCK)
    await bench.send(ServiceBusMessage("inside", message_id="same"))
    assert await bench.receives_nothing()
    assert bench.counts()["dropped_as_duplicate"] == before + 2
    bench.bus.advance(LOCK)
    await bench.send(ServiceBusMessage("outside", message_id="same"))
    message = await bench.receive()
    assert str(message) == "outside"
    await bench.receiver.complete_message(message)


async def test_time_to_live(bench: Bench) -> None:
    """A message that outlives its time to live is dead-lettered as expired."""
    await bench.send(ServiceBusMessage("brief", time_to_live=timedelta(seconds=5)))
    bench.bus.advance(5)
    assert await bench.receives_nothing()
    async with bench.dead_letters() as receiver:
        [dead] = await receiver.receive_messages(1)
        assert dead.dead_letter_reason == "TTLExpiredException"
        await receiver.complete_message(dead)


async def test_max_deliveries(bench: Bench) -> None:
    """A message is delivered as often as the queue allows, and then dead-lettered."""
    await bench.send(ServiceBusMessage("poison"))
    for delivery in range(MAX_DELIVERIES):
        message = await bench.receive()
        assert message.delivery_count == delivery
        await bench.receiver.abandon_message(message)
    assert await bench.receives_nothing()
    async with bench.dead_letters() as receiver:
        [dead] = await receiver.receive_messages(1)
        assert (dead.dead_letter_reason, dead.delivery_count) == ("MaxDeliveryCountExceeded", MAX_DELIVERIES)
        await receiver.complete_message(dead)


async def test_unknown_queue(bench: Bench) -> None:
    """A queue that is not in the topology does not exist, neither for senders nor for receivers."""
    for link in (bench.client.get_queue_sender("nowhere"), bench.client.get_queue_receiver("nowhere")):
        with pytest.raises(MessagingEntityNotFoundError):
            async with link:
                pass


async def test_session_receiver(bench: Bench) -> None:
    """A session receiver on a queue without sessions is refused with the reason."""
    with pytest.raises(ServiceBusError, match="does not require sessions"):
        async with bench.client.get_queue_receiver(QUEUE, session_id="s"):
            pass


async def test_dropped_connections(bench: Bench) -> None:
    """After a network failure the SDK reconnects: locks still hold, and sending and receiving go on."""
    await bench.send(ServiceBusMessage("before"))
    message = await bench.receive()
    assert bench.bus.drop_connections() >= 2
    await bench.receiver.complete_message(message)
    await bench.send(ServiceBusMessage("after"))
    after = await bench.receive()
    assert str(after) == "after"
    await bench.receiver.complete_message(after)
