"""Between events on the wire and events in a partition.

Source of names and limits: Microsoft, "AMQP 1.0 in Azure Service Bus and Event Hubs protocol guide", "Azure Event Hubs
quotas and limits" (Standard tier).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from local.amqp import BATCH_MESSAGE_FORMAT, Message, batch_entries
from local.amqp.values import Symbol, Timestamp
from local.broker import InvalidRequest, MicrosoftCondition

from .hub import Publication
from .partition import Event, PartitionState

MAX_PUBLICATION_SIZE = 1024 * 1024  # bytes, of an event or of a batch with its envelope
MAX_PARTITION_KEY_LENGTH = 128  # characters

PARTITION_KEY = Symbol("x-opt-partition-key")
SEQUENCE_NUMBER = Symbol("x-opt-sequence-number")
OFFSET = Symbol("x-opt-offset")
ENQUEUED_TIME = Symbol("x-opt-enqueued-time")
BROKER_ANNOTATIONS = (PARTITION_KEY, SEQUENCE_NUMBER, OFFSET, ENQUEUED_TIME)

LAST_SEQUENCE_NUMBER = Symbol("last_enqueued_sequence_number")
LAST_OFFSET = Symbol("last_enqueued_offset")
LAST_ENQUEUED_TIME = Symbol("last_enqueued_time_utc")
RETRIEVAL_TIME = Symbol("runtime_info_retrieval_time_utc")


def read_transfer(encoded: bytes, message_format: int) -> Publication:
    """The event, or all events of a batch. Raises an AmqpError when any of them is not acceptable."""
    if message_format != BATCH_MESSAGE_FORMAT:
        return _publication([encoded], {})
    entries = batch_entries(encoded)
    if not entries:
        raise InvalidRequest("A batch must hold events.")
    return _publication(entries, Message.parse(encoded).annotations)


def write_event(event: Event, retrieved: tuple[PartitionState, int] | None) -> bytes:
    """An event as a receiver sees it.

    `retrieved` adds how far the partition reaches, at an instant in milliseconds, for a receiver that asks for it.
    """
    annotations = {name: value for name, value in event.content.annotations.items() if name not in BROKER_ANNOTATIONS}
    annotations |= {
        SEQUENCE_NUMBER: event.sequence_number,
        OFFSET: str(event.offset),
        ENQUEUED_TIME: Timestamp(event.enqueued_at_ms),
    }
    if event.partition_key is not None:
        annotations[PARTITION_KEY] = event.partition_key
    metrics = {} if retrieved is None else _metrics(*retrieved)
    return replace(event.content, delivery_annotations=metrics, annotations=annotations).encode()


def _metrics(state: PartitionState, now_ms: int) -> dict[Symbol, object]:
    return {
        LAST_SEQUENCE_NUMBER: state.last_sequence_number,
        LAST_OFFSET: str(state.last_offset),
        LAST_ENQUEUED_TIME: Timestamp(state.last_enqueued_at_ms),
        RETRIEVAL_TIME: Timestamp(now_ms),
    }


def _publication(entries: list[bytes], envelope: Mapping[Any, Any]) -> Publication:
    contents = [Message.parse(entry) for entry in entries]
    keys = {_partition_key(annotations) for annotations in (envelope, *(each.annotations for each in contents))}
    keys.discard(None)
    if len(keys) > 1:
        raise InvalidRequest("All events of a batch must have the same partition key.")
    return Publication(contents, [len(entry) for entry in entries], next(iter(keys), None))


def _partition_key(annotations: Mapping[Any, Any]) -> str | None:
    key = annotations.get(PARTITION_KEY)
    if key is None:
        return None
    if not isinstance(key, str):
        raise InvalidRequest("A partition key must be a string.")
    if len(key) > MAX_PARTITION_KEY_LENGTH:
        text = f"The partition key has {len(key)} characters; {MAX_PARTITION_KEY_LENGTH} are allowed."
        raise InvalidRequest(text, MicrosoftCondition.ARGUMENT_OUT_OF_RANGE)
    return str(key)
