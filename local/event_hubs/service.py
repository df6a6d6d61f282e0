"""The broker as one thing to start and stop."""

from collections.abc import Mapping
from typing import Any, ClassVar

from local.broker import Clock, Service

from .broker import Broker
from .topology import parse_topology


class EventHubs(Service):
    """A running broker. Use `serving`."""

    ENTITIES: ClassVar[str] = "hubs"

    @staticmethod
    def make_broker(topology: Mapping[str, Any], clock: Clock) -> Broker:
        return Broker(parse_topology(topology), clock)
