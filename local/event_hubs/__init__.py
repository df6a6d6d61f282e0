"""A local stand-in for Azure Event Hubs, on the engine in `local.amqp`.

`partition`, `selector`, `ownership` and `hashing` hold the rules and know no sockets; `broker` says which AMQP links
lead where; `service` runs it all, and `python -m local.event_hubs` runs it alone. local/README.md lists where it is not
like the real service.
"""

from local.broker import Clock, TopologyError

from .service import EventHubs

__all__ = ["Clock", "EventHubs", "TopologyError"]
