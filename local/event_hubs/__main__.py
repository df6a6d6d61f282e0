"""Runs the broker: python -m local.event_hubs"""

import sys

from local.broker import Program

from .service import EventHubs

PROGRAM = Program(
    name="event-hubs",
    module="local.event_hubs",
    description="A local stand-in for Azure Event Hubs.",
    port=5674,  # next to Service Bus, which has 5672 and 5673
    control_port=5675,
    serving=EventHubs.serving,
)

if __name__ == "__main__":
    sys.exit(PROGRAM.main())
