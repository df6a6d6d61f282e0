"""What every broker on the engine in `local.amqp` has, whatever it keeps: clock, HTTP side door, `$cbs`, program.

`service` runs a broker with its sockets, `command` makes a program of it. `local.service_bus` and `local.event_hubs`
are the brokers.
"""

from .addresses import entity_path
from .clock import Clock
from .command import Program
from .faults import InvalidRequest, MicrosoftCondition
from .requests import Request, RequestNodes, Response
from .service import Service
from .tokens import CBS_NODE, put_token
from .topology import TopologyError, parse_duration, read_document

__all__ = [
    "CBS_NODE",
    "Clock",
    "InvalidRequest",
    "MicrosoftCondition",
    "Program",
    "Request",
    "RequestNodes",
    "Response",
    "Service",
    "TopologyError",
    "entity_path",
    "parse_duration",
    "put_token",
    "read_document",
]
