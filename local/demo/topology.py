"""What the demo has to know of the shop's topology: how long things last, and where documents are."""

import json
from dataclasses import dataclass
from pathlib import Path

from local.service_bus.topology import parse_topology

HUB = "stock-movements"
"""The event hub of the stream."""
STOCK = "stock"
"""The container that its events write to."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The parts of shared/topology.json that the demo needs."""

    queues: tuple[str, ...]
    """Names."""
    lock_seconds: float
    """After so long every lock that is held now has expired, in every queue."""
    window_seconds: float
    """After so long every queue has forgotten the ids it has seen."""
    database: str
    """Name."""
    partition_fields: dict[str, str]
    """By container name: the document's member that is the partition key."""

    @property
    def message_containers(self) -> tuple[str, ...]:
        """All but the stream's: what is in them came through queues."""
        return tuple(name for name in self.partition_fields if name != STOCK)


def read_topology(path: Path) -> Topology:
    """Raises OSError, ValueError, KeyError when the file is not there or not complete."""
    content = json.loads(path.read_text(encoding="utf-8"))
    queues = parse_topology(content)
    windows = [queue.detection_window for queue in queues.values() if queue.detection_window is not None]
    return Topology(
        queues=tuple(queues),
        lock_seconds=max(queue.lock_duration for queue in queues.values()).total_seconds(),
        window_seconds=max(windows).total_seconds(),
        database=content["database"],
        partition_fields={
            name: container["partitionKeyPath"].removeprefix("/") for name, container in content["containers"].items()
        },
    )
