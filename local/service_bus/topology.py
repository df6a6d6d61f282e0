"""Reads which queues exist, and checks them against the limits of the real service.

Source of the limits: Microsoft, "Service Bus quotas" and "Duplicate detection".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from local.broker import TopologyError, parse_duration

LONGEST_LOCK = timedelta(minutes=5)
SHORTEST_DETECTION_WINDOW = timedelta(seconds=20)
LONGEST_DETECTION_WINDOW = timedelta(days=7)
# Properties of Microsoft's queue resource that change behaviour which this broker does not have.
UNSUPPORTED = (
    "requiresSession",
    "enablePartitioning",
    "forwardTo",
    "forwardDeadLetteredMessagesTo",
    "autoDeleteOnIdle",
)


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """What a queue was created with."""

    name: str  # the entity path
    lock_duration: timedelta  # how long a receiver has a message to itself
    max_delivery_count: int | None  # failed deliveries before a message is dead-lettered; None: never
    default_time_to_live: timedelta | None  # the longest life of a message; None: no limit
    detection_window: timedelta | None  # how long a MessageId is remembered; None: no duplicate detection
    dead_letter_on_expiration: bool  # an expired message is dead-lettered rather than dropped


def parse_topology(topology: Mapping[str, Any]) -> dict[str, QueueSettings]:
    """The queues of a topology document by name; raises TopologyError."""
    return {name: _queue(name, queue) for name, queue in topology.get("queues", {}).items()}


def _queue(name: str, queue: Mapping[str, Any]) -> QueueSettings:
    for feature in UNSUPPORTED:
        if queue.get(feature):
            raise TopologyError(f"queue {name!r}: {feature} is not supported by the local broker")
    lock = parse_duration(queue.get("lockDuration", "PT1M"))
    if not timedelta() < lock <= LONGEST_LOCK:
        raise TopologyError(f"queue {name!r}: lockDuration must be above zero and at most {LONGEST_LOCK}")
    deliveries = int(queue.get("maxDeliveryCount", 10))
    if deliveries < 1:
        raise TopologyError(f"queue {name!r}: maxDeliveryCount must be at least 1")
    window = _optional_duration(queue, "duplicateDetectionHistoryTimeWindow")
    if window is not None and not SHORTEST_DETECTION_WINDOW <= window <= LONGEST_DETECTION_WINDOW:
        limits = f"{SHORTEST_DETECTION_WINDOW} to {LONGEST_DETECTION_WINDOW}"
        raise TopologyError(f"queue {name!r}: duplicateDetectionHistoryTimeWindow must be within {limits}")
    return QueueSettings(
        name=name,
        lock_duration=lock,
        max_delivery_count=deliveries,
        default_time_to_live=_optional_duration(queue, "defaultMessageTimeToLive"),
        detection_window=window,
        dead_letter_on_expiration=bool(queue.get("deadLetteringOnMessageExpiration", True)),
    )


def _optional_duration(queue: Mapping[str, Any], name: str) -> timedelta | None:
    return parse_duration(queue[name]) if name in queue else None
