"""Reads which event hubs exist, and checks them against the limits of the real service.

Source of the limits: Microsoft, "Azure Event Hubs quotas and limits" (Standard tier).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from local.broker import TopologyError, parse_duration

MOST_PARTITIONS = 32
MOST_CONSUMER_GROUPS = 20
SHORTEST_RETENTION = timedelta(hours=1)
LONGEST_RETENTION = timedelta(days=7)
DEFAULT_CONSUMER_GROUP = "$Default"  # every hub has it
# Properties of Microsoft's event hub resource that change behaviour which this broker does not have.
UNSUPPORTED = ("captureDescription", "retentionDescription", "status")


@dataclass(frozen=True, slots=True)
class HubSettings:
    """What an event hub was created with."""

    name: str  # the entity path
    partition_count: int  # partitions, named "0" and up
    consumer_groups: tuple[str, ...]  # names, the default one included
    retention: timedelta  # how long an event can be read


def parse_topology(topology: Mapping[str, Any]) -> dict[str, HubSettings]:
    """The event hubs of a topology document by name; raises TopologyError."""
    return {name: _hub(name, hub) for name, hub in topology.get("eventHubs", {}).items()}


def _hub(name: str, hub: Mapping[str, Any]) -> HubSettings:
    for feature in UNSUPPORTED:
        if feature in hub:
            raise TopologyError(f"event hub {name!r}: {feature} is not supported by the local broker")
    partitions = hub.get("partitionCount")
    if not isinstance(partitions, int) or not 1 <= partitions <= MOST_PARTITIONS:
        raise TopologyError(f"event hub {name!r}: partitionCount must be a number from 1 to {MOST_PARTITIONS}")
    retention = parse_duration(str(hub.get("messageRetention")))
    if not SHORTEST_RETENTION <= retention <= LONGEST_RETENTION:
        limits = f"{SHORTEST_RETENTION} to {LONGEST_RETENTION}"
        raise TopologyError(f"event hub {name!r}: messageRetention must be within {limits}")
    groups = {group.lower(): group for group in (DEFAULT_CONSUMER_GROUP, *hub.get("consumerGroups", ()))}
    if len(groups) > MOST_CONSUMER_GROUPS:
        raise TopologyError(f"event hub {name!r}: more than {MOST_CONSUMER_GROUPS} consumer groups")
    return HubSettings(name, partitions, tuple(groups.values()), retention)
