"""A local stand-in for Azure Service Bus, on the engine in `local.amqp`.

`queue` holds the rules and knows no sockets; `broker` says which AMQP links lead where; `service` runs it all, and
`python -m local.service_bus` runs it alone. DIFFERENCES.md lists where it is not like the real service.
"""

from .clock import Clock
from .service import ServiceBus
from .topology import TopologyError

__all__ = ["Clock", "ServiceBus", "TopologyError"]
