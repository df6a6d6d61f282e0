"""A batch of events as the Functions host hands it over, told apart event by event.

The bodies come as a list; everything else comes in arrays that all events of the invocation share. The host leaves
empty entries out of arrays of texts (Functions host, `ToRpcStringArray`), so that `PartitionKeyArray` is shorter than
the batch as soon as one event has no key. Hence no value is paired with an event by its place in the list: what is said
of an event is found under its sequence number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from types import MappingProxyType
from typing import Any

import azure.functions as func

from ..idempotency import Delivery
from .cloud_events import deliveries_in
from .parking import Position


class MetadataMismatch(Exception):
    """The host's arrays do not tell which values belong to which event. Nothing of the batch may be processed."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A delivery and where it came from."""

    position: Position
    """The event's place in its stream."""
    delivery: Delivery
    """What goes to the consumer."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What the host says of one event beside its body."""

    system: Mapping[str, Any]
    """`SystemProperties`: the AMQP properties under their AMQP names, and the broker's annotations."""
    properties: Mapping[str, Any]
    """`Properties`: the producer's application properties."""


def arrivals_in(events: Sequence[func.EventHubEvent], *, hub: str, attempt: int, keyless: bool) -> tuple[Arrival, ...]:
    """What a batch brings, in its order: each event, or the CloudEvents in it.

    An event is identified by the source and id of its CloudEvent, else by the hub and the producer's message id, else,
    when `keyless` allows, by the hub, the partition and the sequence number: never by the offset, which changes its
    form when a namespace fails over. No application property counts as an id: none is agreed upon, and a consumer that
    knows one declares it as its identity.

    Raises `MetadataMismatch`.
    """
    if not events:
        return ()
    metadata = events[0].metadata or {}
    partition = _partition_in(metadata)
    said = _said_in(metadata)
    arrivals: list[Arrival] = []
    for event in events:
        number = event.sequence_number
        if number is None or number not in said:
            raise MetadataMismatch(f"The host says nothing of the event with sequence number {number}.")
        carrier = _delivery(event, said[number], hub=hub, attempt=attempt)
        if keyless and not carrier.message_id:
            carrier = replace(carrier, source=f"{hub}/{partition}", message_id=str(number))
        for part, delivery in enumerate(deliveries_in(carrier)):
            position = Position(hub=hub, partition=partition, sequence_number=number, part=part)
            arrivals.append(Arrival(position, delivery))
    return tuple(arrivals)


def _delivery(event: func.EventHubEvent, said: _Said, *, hub: str, attempt: int) -> Delivery:
    """The event as a plain message."""
    system = said.system
    enqueued_at = event.enqueued_time
    return Delivery(
        source=hub,
        # .NET SDK, `AmqpSystemProperties`: always text, whatever its AMQP type; absent when the producer gave none.
        message_id=_text(system.get("message-id")),
        body=event.get_body(),
        attempt=attempt,
        properties=MappingProxyType(dict(said.properties)),
        content_type=_text(system.get("content-type")),
        subject=_text(system.get("subject")),
        partition_key=event.partition_key,
        correlation_id=_text(system.get("correlation-id")),
        # The host's *Utc values carry no zone.
        enqueued_at=enqueued_at.replace(tzinfo=UTC) if enqueued_at and not enqueued_at.tzinfo else enqueued_at,
    )


def _partition_in(metadata: Mapping[str, Any]) -> str:
    match metadata.get("PartitionContext"):
        case {"PartitionId": str(partition)} if partition:
            return partition
    raise MetadataMismatch("The host does not say which partition the events come from.")


def _said_in(metadata: Mapping[str, Any]) -> Mapping[int, _Said]:
    """What the host says of each event, by sequence number."""
    system, properties = metadata.get("SystemPropertiesArray"), metadata.get("PropertiesArray")
    if not isinstance(system, list) or not isinstance(properties, list) or len(system) != len(properties):
        raise MetadataMismatch("The host's arrays of system properties and of properties are not of one length.")
    said = {
        one["SequenceNumber"]: _Said(one, its or {})
        for one, its in zip(system, properties, strict=True)
        if isinstance(one.get("SequenceNumber"), int)
    }
    if len(said) != len(system):
        raise MetadataMismatch("Sequence numbers are missing from the host's system properties, or repeated in them.")
    return said


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
