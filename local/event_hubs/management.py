"""What can be asked of the namespace's `$management` node: event hubs and partitions at run time.

Source: Microsoft, "AMQP 1.0 in Azure Service Bus and Event Hubs protocol guide" (Event Hubs management operations).
"""

from collections.abc import Callable
from typing import Any

from local.amqp import AmqpError, Condition
from local.amqp.values import Int, Timestamp, symbols
from local.broker import InvalidRequest, Request, Response

from .hub import EventHub

READ = "READ"
HUB_TYPE, PARTITION_TYPE = "com.microsoft:eventhub", "com.microsoft:partition"
OK, BAD_REQUEST, NOT_FOUND, NOT_IMPLEMENTED = 200, 400, 404, 501
STATUS_OF_CONDITION: dict[str, int] = {Condition.NOT_FOUND: NOT_FOUND, Condition.NOT_IMPLEMENTED: NOT_IMPLEMENTED}


class Management:
    """The management node of the namespace."""

    def __init__(self, find: Callable[[str], EventHub]) -> None:
        """`find` gives the hub of a name, or raises EntityNotFound."""
        self._find = find

    def handle(self, request: Request) -> Response:
        """Execute a request; what is wrong with it is in the response."""
        try:
            return Response(OK, "OK", body=self._read(request))
        except AmqpError as error:
            status = STATUS_OF_CONDITION.get(error.condition, BAD_REQUEST)
            return Response(status, error.description, error.condition)

    def _read(self, request: Request) -> dict[str, Any]:
        kind = request.properties.get("type")
        if request.operation != READ or kind not in (HUB_TYPE, PARTITION_TYPE):
            text = f"The operation {request.operation!r} on {kind!r} is not supported."
            raise AmqpError(Condition.NOT_IMPLEMENTED, text)
        hub = self._find(_text(request, "name"))
        about = {"name": hub.settings.name, "type": kind}
        return about | (_hub(hub) if kind == HUB_TYPE else _partition(hub, _text(request, "partition")))


def _hub(hub: EventHub) -> dict[str, Any]:
    return {
        "created_at": Timestamp(hub.created_at_ms),
        "partition_count": Int(len(hub.partitions)),
        "partition_ids": symbols(hub.partitions),
    }


def _partition(hub: EventHub, partition_id: str) -> dict[str, Any]:
    state = hub.partition(partition_id).state()
    return {
        "partition": partition_id,
        "begin_sequence_number": state.first_sequence_number,
        "last_enqueued_sequence_number": state.last_sequence_number,
        "last_enqueued_offset": str(state.last_offset),
        "last_enqueued_time_utc": Timestamp(state.last_enqueued_at_ms),
        "is_partition_empty": state.is_empty,
    }


def _text(request: Request, name: str) -> str:
    value = request.properties.get(name)
    if not isinstance(value, str):
        raise InvalidRequest(f"The application property {name!r} must be a string.")
    return value
