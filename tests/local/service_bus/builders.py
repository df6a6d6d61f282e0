"""Queues and messages for these tests, with everything a test does not speak of at its usual value."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from local.amqp import Message, Section, encode_section
from local.broker import Clock
from local.service_bus.queue import Queue
from local.service_bus.stored import StoredMessage, Submission
from local.service_bus.topology import QueueSettings

NOON = 1_700_000_000.0  # seconds since the epoch; any instant will do
LOCK = 60  # seconds
WINDOW = 600  # seconds
LIFE = 3600  # seconds
SETTINGS = QueueSettings(
    name="orders",
    lock_duration=timedelta(seconds=LOCK),
    max_delivery_count=3,
    default_time_to_live=timedelta(seconds=LIFE),
    detection_window=timedelta(seconds=WINDOW),
    dead_letter_on_expiration=True,
)


def still_clock() -> Clock:
    """A clock that moves when it is advanced, and not otherwise."""
    return Clock(lambda: NOON)


def a_queue(clock: Clock, **changes: Any) -> Queue:
    return Queue(replace(SETTINGS, **changes), clock)


def a_submission(message_id: str = "1", **changes: Any) -> Submission:
    return Submission(Message(), message_id, **changes)


def an_encoded_message(message_id: object = "1", *, body: bytes = b"", **fields: Any) -> bytes:
    """A message on the wire; `fields` are those of Message."""
    properties = encode_section(Section.PROPERTIES, [message_id])
    return Message(properties=properties, body=encode_section(Section.DATA, body), **fields).encode()


def locked(queue: Queue) -> StoredMessage:
    """The next message, which must be there."""
    message = queue.lock_next()
    assert message is not None
    return message


def token_of(message: StoredMessage) -> Any:
    assert message.lock_token is not None
    return message.lock_token


def dead_letter_queue(queue: Queue) -> Queue:
    assert queue.dead_letter_queue is not None
    return queue.dead_letter_queue
