"""The local stack: broker, event stream, database, storage and Functions host as child processes under one supervisor.

Start reading at `supervisor.py`. `python -m local.stack` runs it for a person; tests and the demo use `Stack.running`.
"""

from .channel import ControlFailed
from .cosmos import EMULATOR_KEY, Cosmos, RequestRecord
from .event_hubs import EventHubs, HubStatistics, PartitionStatistics
from .host import Host, HostStatus
from .monitor import Metric, Monitor
from .part import PartFailed
from .ports import FREE, WELL_KNOWN, Ports
from .service_bus import QueueStatistics, ServiceBus
from .signals import run_until_signal
from .supervisor import Stack

__all__ = [
    "EMULATOR_KEY",
    "FREE",
    "WELL_KNOWN",
    "ControlFailed",
    "Cosmos",
    "EventHubs",
    "Host",
    "HostStatus",
    "HubStatistics",
    "Metric",
    "Monitor",
    "PartFailed",
    "PartitionStatistics",
    "Ports",
    "QueueStatistics",
    "RequestRecord",
    "ServiceBus",
    "Stack",
    "run_until_signal",
]
