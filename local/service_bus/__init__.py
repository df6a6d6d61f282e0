"""A local stand-in for Azure Service Bus, on the engine in `local.amqp`.

`queue` holds the rules and knows no sockets; `broker` says which AMQP links lead where; `service` runs it all, and
`python -m local.service_bus` runs it alone. local/README.md lists where it is not like the real service.
"""

from local.broker import Clock, TopologyError

from .service import ServiceBus

__all__ = ["Clock", "ServiceBus", "TopologyError"]
