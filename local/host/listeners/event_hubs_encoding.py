"""Received events as the Event Hubs extension hands them to a language worker.

Sources: `EventHubTriggerBindingStrategy.cs` of Microsoft.Azure.WebJobs.Extensions.EventHubs (names of the metadata),
`AmqpSystemProperties.cs` of Azure.Messaging.EventHubs (names of the system properties), and
`GrpcMessageConversionExtensions.cs` of the Functions host (which arrays have a field of their own).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from azure.eventhub import EventData
from azure.eventhub.amqp import AmqpMessageBodyType

from ..wire import TypedData
from .dotnet_json import UTC_OFFSET, json_data, moment, plain, string_data, text

# System properties that AMQP carries as milliseconds since 1970 and .NET as DateTimeOffset.
_TIMES = ("absolute-expiry-time", "creation-time", "x-opt-enqueued-time")
# What the extension puts for an offset that is no number, such as those of a geo-replicated namespace.
_NO_OFFSET = -1


class UnsupportedBody(Exception):
    """An event has no data section; the extension cannot bind it either, so the invocation fails."""


def body_value(events: Sequence[EventData], *, many: bool, data_type: str) -> TypedData:
    """The trigger's value. Only `dataType` "binary" keeps a body byte for byte; otherwise it is decoded as UTF-8.

    The host leaves empty texts out of an array, which the worker then refuses; empty byte arrays stay.
    Raises UnsupportedBody for a value or sequence body.
    """
    bodies = tuple(_body(event) for event in events)
    if data_type.lower() == "binary":
        return TypedData(binaries=bodies) if many else TypedData(binary=bodies[0])
    texts = tuple(text(body) for body in bodies)
    return _strings(texts) if many else TypedData(string=texts[0])


def trigger_metadata(events: Sequence[EventData], partition: dict[str, Any], *, many: bool) -> dict[str, TypedData]:
    """The metadata by its .NET names; `partition` is the JSON object that describes the partition."""
    shared = {"TriggerPartitionContext": json_data(partition), "PartitionContext": json_data(partition)}
    return shared | (_of_many(events) if many else _of_one(events[0]))


def _of_many(events: Sequence[EventData]) -> dict[str, TypedData]:
    return {
        "PartitionKeyArray": _strings([_partition_key(event) for event in events]),
        "OffsetArray": _strings([str(_offset(event)) for event in events]),
        "OffsetStringArray": _strings([event.offset for event in events]),
        "SequenceNumberArray": TypedData(integers=tuple(event.sequence_number or 0 for event in events)),
        "EnqueuedTimeUtcArray": json_data([_enqueued(event) for event in events]),
        "PropertiesArray": json_data([plain(event.properties or {}) for event in events]),
        "SystemPropertiesArray": json_data([_system_properties(event) for event in events]),
    }


def _of_one(event: EventData) -> dict[str, TypedData]:
    values = {
        "PartitionKey": string_data(_partition_key(event)),
        "Offset": string_data(str(_offset(event))),
        "OffsetString": string_data(event.offset),
        "SequenceNumber": json_data(event.sequence_number),
        "EnqueuedTimeUtc": json_data(_enqueued(event)),
        "Properties": json_data(plain(event.properties or {})),
        "SystemProperties": json_data(_system_properties(event)),
    }
    return {name: value for name, value in values.items() if value is not None}


def _system_properties(event: EventData) -> dict[str, Any]:
    properties = {text(name): plain(value) for name, value in event.system_properties.items()}
    for name in _TIMES:
        if name in properties:
            properties[name] = moment(datetime.fromtimestamp(properties[name] / 1000, UTC)) + UTC_OFFSET
    return properties | {
        "SequenceNumber": event.sequence_number,
        "Offset": _offset(event),
        "OffsetString": event.offset,
        "PartitionKey": _partition_key(event),
        "EnqueuedTimeUtc": _enqueued(event),
    }


def _body(event: EventData) -> bytes:
    if event.body_type != AmqpMessageBodyType.DATA:
        raise UnsupportedBody(f"event {event.sequence_number} has a {event.body_type.value} body and cannot be bound")
    body: Any = event.body
    return body if isinstance(body, bytes) else b"".join(body)


def _strings(values: Sequence[str | None]) -> TypedData:
    # The worker does not ask for IncludeEmptyEntriesInMessagePayload: arrays of one batch can differ in length.
    return TypedData(strings=tuple(value for value in values if value))


def _partition_key(event: EventData) -> str | None:
    return None if event.partition_key is None else text(event.partition_key)


def _offset(event: EventData) -> int:
    try:
        return int(event.offset or "")
    except ValueError:
        return _NO_OFFSET


def _enqueued(event: EventData) -> str | None:
    # DateTimeOffset.DateTime has no zone, so neither has the text.
    return None if event.enqueued_time is None else moment(event.enqueued_time)
