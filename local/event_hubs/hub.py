"""An event hub: its partitions, and which of them an event goes to."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from local.amqp import Message
from local.broker import Clock, InvalidRequest

from .faults import EntityNotFound, PartitionNotFound
from .hashing import partition_of
from .partition import Event, Partition
from .topology import HubSettings


@dataclass(frozen=True, slots=True)
class Publication:
    """What a sender hands over at once: an event, or a batch. It goes into one partition, all or nothing."""

    contents: Sequence[Message]  # the events in order
    sizes: Sequence[int]  # their encoded sizes in bytes
    partition_key: str | None  # what all of them belong to


class EventHub:
    """An event hub."""

    def __init__(self, settings: HubSettings, clock: Clock) -> None:
        self.settings = settings
        self.created_at_ms = clock.now_ms()
        self.partitions = {
            str(index): Partition(settings.retention, clock) for index in range(settings.partition_count)
        }
        self._groups = {group.lower() for group in settings.consumer_groups}
        self._turns = itertools.cycle(self.partitions)
        self._sent = 0

    def publish(self, publication: Publication, partition_id: str | None) -> list[Event]:
        """Take events in: into the partition named, or that of their key, or else each partition in turn.

        Raises InvalidRequest for a key together with a named partition, PartitionNotFound.
        """
        key = publication.partition_key
        if partition_id is not None and key is not None:
            raise InvalidRequest("Events sent to a partition cannot have a partition key.")
        if partition_id is None:
            partition_id = next(self._turns) if key is None else str(partition_of(key, len(self.partitions)))
        partition = self.partition(partition_id)
        self._sent += len(publication.contents)
        return [
            partition.append(content, size, key)
            for content, size in zip(publication.contents, publication.sizes, strict=True)
        ]

    def partition(self, partition_id: str) -> Partition:
        """The partition of this name; raises PartitionNotFound."""
        partition = self.partitions.get(partition_id)
        if partition is None:
            raise PartitionNotFound(len(self.partitions))
        return partition

    def require_group(self, consumer_group: str) -> None:
        """Raise EntityNotFound unless there is this consumer group, its name in lower case."""
        if consumer_group not in self._groups:
            raise EntityNotFound(f"{self.settings.name}|{consumer_group}")

    def statistics(self) -> dict[str, Any]:
        """What was sent, and each partition."""
        partitions = [{"id": name, **partition.statistics()} for name, partition in self.partitions.items()]
        return {"sent": self._sent, "partitions": partitions}
