"""Runs the broker: python -m local.service_bus"""

import sys

from local.broker import Program

from .service import ServiceBus

PROGRAM = Program(
    name="service-bus",
    module="local.service_bus",
    description="A local stand-in for Azure Service Bus.",
    port=5672,  # of AMQP without TLS
    control_port=5673,
    serving=ServiceBus.serving,
)

if __name__ == "__main__":
    sys.exit(PROGRAM.main())
