"""Event hubs, partitions and events for these tests, with everything a test does not speak of at its usual value."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from local.amqp import Message, Section, encode_section
from local.broker import Clock
from local.event_hubs.hub import EventHub, Publication
from local.event_hubs.partition import Event, Partition
from local.event_hubs.topology import HubSettings

NOON = 1_700_000_000.0  # seconds since the epoch; any instant will do
NOON_MS = 1_700_000_000_000
RETENTION = 3600  # seconds
SIZE = 100  # bytes of an event, where a test does not care
SETTINGS = HubSettings("stock", 4, ("$Default", "audit"), timedelta(seconds=RETENTION))


def still_clock() -> Clock:
    """A clock that moves when it is advanced, and not otherwise."""
    return Clock(lambda: NOON)


def a_partition(clock: Clock | None = None) -> Partition:
    return Partition(timedelta(seconds=RETENTION), clock or still_clock())


def a_hub(**changes: Any) -> EventHub:
    return EventHub(replace(SETTINGS, **changes), still_clock())


def a_publication(*, count: int = 1, key: str | None = None) -> Publication:
    return Publication([Message()] * count, [SIZE] * count, key)


def an_encoded_event(body: bytes = b"", **fields: Any) -> bytes:
    """An event on the wire; `fields` are those of Message."""
    return Message(body=encode_section(Section.DATA, body), **fields).encode()


def an_encoded_batch(*entries: bytes, **envelope: Any) -> bytes:
    return Message(body=b"".join(encode_section(Section.DATA, entry) for entry in entries), **envelope).encode()


def read_all(partition: Partition, sequence_number: int = 0, group: str = "$default") -> list[Event]:
    """What a receiver that starts there is given until the end."""
    events: list[Event] = []
    while (event := partition.deliver(sequence_number, group)) is not None:
        events.append(event)
        sequence_number = event.sequence_number + 1
    return events


def numbers(events: Iterable[Event]) -> list[int]:
    return [event.sequence_number for event in events]
