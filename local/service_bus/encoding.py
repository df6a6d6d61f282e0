"""Between messages on the wire and messages in a queue.

Source of names and limits: Microsoft, "AMQP 1.0 in Azure Service Bus and Event Hubs protocol guide", "Service Bus
quotas".
"""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from local.amqp import BATCH_MESSAGE_FORMAT, Condition, Message, Section, batch_entries, encode_section
from local.amqp.values import Int, Symbol, Timestamp, UInt
from local.broker import InvalidRequest, MicrosoftCondition

from .stored import StoredMessage, Submission

# The Standard tier's limit for a message, and for a batch of them, in bytes.
MAX_MESSAGE_SIZE = 256 * 1024
MAX_MESSAGE_ID_LENGTH = 128  # characters
MAX_BATCH_COUNT = 4500  # messages in one transfer
MESSAGE_ID_FIELD = 0  # of the properties section

SCHEDULED_TIME = Symbol("x-opt-scheduled-enqueue-time")
SEQUENCE_NUMBER = Symbol("x-opt-sequence-number")
ENQUEUED_TIME = Symbol("x-opt-enqueued-time")
LOCKED_UNTIL = Symbol("x-opt-locked-until")
MESSAGE_STATE = Symbol("x-opt-message-state")
BROKER_ANNOTATIONS = (SEQUENCE_NUMBER, ENQUEUED_TIME, LOCKED_UNTIL, MESSAGE_STATE)


def read_transfer(encoded: bytes, message_format: int) -> list[Submission]:
    """The message, or all messages of a batch. Raises an AmqpError when any of them is not acceptable."""
    if message_format != BATCH_MESSAGE_FORMAT:
        return [read_message(encoded)]
    entries = batch_entries(encoded)
    if len(entries) > MAX_BATCH_COUNT:
        raise InvalidRequest(f"A batch of {len(entries)} messages exceeds the limit of {MAX_BATCH_COUNT}.")
    return [read_message(entry) for entry in entries]


def read_message(encoded: bytes) -> Submission:
    """One message. Raises an AmqpError when it is not acceptable."""
    if len(encoded) > MAX_MESSAGE_SIZE:
        text = f"A message of {len(encoded)} bytes exceeds the limit of {MAX_MESSAGE_SIZE} bytes."
        raise InvalidRequest(text, Condition.MESSAGE_SIZE_EXCEEDED)
    content = Message.parse(encoded)
    properties = content.properties_list()
    message_id = properties[MESSAGE_ID_FIELD] if properties else None
    if message_id is None:
        # The service gives such a message an identity of its own; SDKs rely on there being one.
        message_id = uuid.uuid4().hex
        content = replace(content, properties=encode_section(Section.PROPERTIES, [message_id, *properties[1:]]))
    identity = str(message_id)
    if len(identity) > MAX_MESSAGE_ID_LENGTH:
        text = f"MessageId has {len(identity)} characters; {MAX_MESSAGE_ID_LENGTH} are allowed."
        raise InvalidRequest(text, MicrosoftCondition.ARGUMENT_OUT_OF_RANGE)
    time_to_live = _milliseconds(content.header.ttl_ms, "ttl")
    return Submission(
        content, identity, time_to_live, _milliseconds(content.annotations.get(SCHEDULED_TIME), SCHEDULED_TIME)
    )


def write_message(message: StoredMessage) -> bytes:
    """A message as a receiver sees it."""
    content = message.content
    header = replace(
        content.header,
        durable=True if content.header.durable is None else content.header.durable,
        ttl_ms=None if message.time_to_live_ms is None else UInt(message.time_to_live_ms),
        delivery_count=UInt(message.delivery_count),
    )
    annotations = {name: value for name, value in content.annotations.items() if name not in BROKER_ANNOTATIONS}
    annotations |= {
        SEQUENCE_NUMBER: message.sequence_number,
        ENQUEUED_TIME: Timestamp(message.enqueued_at_ms),
        MESSAGE_STATE: Int(message.state),
    }
    if message.lock_token is not None:
        annotations[LOCKED_UNTIL] = Timestamp(message.locked_until_ms)
    return replace(
        content,
        header=header,
        annotations=annotations,
        application_properties=_application_properties(content, message.changes),
    ).encode()


def property_changes(changes: Mapping[Any, Any]) -> dict[str, Any]:
    """Application properties that a settlement sets. Names are plain strings there, symbols in a settlement."""
    return {str(name): value for name, value in changes.items()}


def _milliseconds(value: object, name: str) -> int | None:
    if value is not None and not isinstance(value, int):
        raise InvalidRequest(f"{name} must be a number of milliseconds.")
    return None if value is None else int(value)


def _application_properties(content: Message, changes: Mapping[str, Any]) -> bytes:
    if not changes:
        return content.application_properties
    return encode_section(Section.APPLICATION_PROPERTIES, content.application_properties_map() | dict(changes))
