"""The queues, event hubs and containers of the app, read from topology.json.

The same file configures the local broker and the deployment, so retention windows follow the limits that the broker
really has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import ClassVar, Self

from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from .idempotency import RetentionWindow

_AS_WRITTEN = ConfigDict(alias_generator=to_camel, extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A Service Bus queue. Durations are ISO 8601 in the file, as Azure Resource Manager writes them."""

    __pydantic_config__: ClassVar[ConfigDict] = _AS_WRITTEN

    lock_duration: timedelta
    """How long a delivery is locked before the broker delivers again, unless the lock is renewed."""
    max_delivery_count: int
    """Deliveries before the broker dead-letters by itself."""
    default_message_time_to_live: timedelta
    """How long a message waits to be taken."""
    duplicate_detection_history_time_window: timedelta
    """How long the broker drops messages that are sent again with the same id."""
    dead_letter_resubmission_allowance: timedelta
    """How long operators may send a dead-lettered message again. Ours, not the broker's."""

    def retention(self) -> RetentionWindow:
        """How long a marker must live to outlast every copy of a message."""
        return RetentionWindow.covering(
            lock_duration=self.lock_duration,
            max_deliveries=self.max_delivery_count,
            message_ttl=self.default_message_time_to_live,
            duplicate_detection_window=self.duplicate_detection_history_time_window,
            resubmission_allowance=self.dead_letter_resubmission_allowance,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventHub:
    """An event hub."""

    __pydantic_config__: ClassVar[ConfigDict] = _AS_WRITTEN

    partition_count: int
    """How many ordered streams it has; cannot be changed later below the Premium tier."""
    message_retention: timedelta
    """How long an event can be read, and read again."""
    parked_event_resubmission_allowance: timedelta
    """How long operators may send a parked event again. Ours, not the broker's."""
    consumer_groups: tuple[str, ...]
    """Those that the app reads through."""

    def retention(self) -> RetentionWindow:
        """How long a marker must live to outlast every reading of an event."""
        return RetentionWindow.covering_stream(
            event_retention=self.message_retention, resubmission_allowance=self.parked_event_resubmission_allowance
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A Cosmos DB container."""

    __pydantic_config__: ClassVar[ConfigDict] = _AS_WRITTEN

    partition_key_path: str
    """`/orderId`: the property that decides the partition, of the document's first level."""

    @property
    def partition_property(self) -> str:
        """The property's name."""
        return self.partition_key_path.removeprefix("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """All of it."""

    __pydantic_config__: ClassVar[ConfigDict] = _AS_WRITTEN

    queues: Mapping[str, Queue]
    """By name."""
    event_hubs: Mapping[str, EventHub]
    """By name."""
    database: str
    """The Cosmos DB database of all containers."""
    containers: Mapping[str, Container]
    """By name."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file. Raises pydantic's `ValidationError`, which names every fault in it."""
        return TypeAdapter(cls).validate_json(path.read_bytes())

    def queue(self, name: str) -> Queue:
        """A queue by name. Raises `LookupError`."""
        if name not in self.queues:
            raise LookupError(f"topology.json knows no queue {name!r}, only {sorted(self.queues)}.")
        return self.queues[name]

    def event_hub(self, name: str) -> EventHub:
        """An event hub by name. Raises `LookupError`."""
        if name not in self.event_hubs:
            raise LookupError(f"topology.json knows no event hub {name!r}, only {sorted(self.event_hubs)}.")
        return self.event_hubs[name]

    def container(self, name: str) -> Container:
        """A container by name. Raises `LookupError`."""
        if name not in self.containers:
            raise LookupError(f"topology.json knows no container {name!r}, only {sorted(self.containers)}.")
        return self.containers[name]
