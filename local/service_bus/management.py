"""The operations of `<entity>/$management`.

Source: Microsoft, "AMQP request-response operations in Service Bus".
"""

import uuid
from collections.abc import Callable
from typing import Any

from local.amqp import Accepted, AmqpError, Condition, ErrorInfo, Modified, Outcome, Rejected
from local.amqp.values import Array, longs, timestamps
from local.broker import InvalidRequest, Request, Response

from .encoding import read_message, write_message
from .faults import ServiceBusCondition
from .queue import DESCRIPTION_PROPERTY, REASON_PROPERTY, Queue
from .receivers import settle
from .stored import StoredMessage

OPERATION_PREFIX = "com.microsoft:"
RECEIVE_AND_DELETE = 0  # receiver-settle-mode "first": the messages are gone when given
OK, NO_CONTENT, BAD_REQUEST = 200, 204, 400
STATUS_OF_CONDITION: dict[str, int] = {
    ServiceBusCondition.MESSAGE_LOCK_LOST: 410,
    ServiceBusCondition.MESSAGE_NOT_FOUND: 404,
    Condition.NOT_IMPLEMENTED: 501,
}


class Management:
    """The management node of a queue."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._operations: dict[str, Callable[[dict[str, Any]], Response]] = {
            "renew-lock": self._renew_lock,
            "peek-message": self._peek,
            "schedule-message": self._schedule,
            "cancel-scheduled-message": self._cancel_scheduled,
            "receive-by-sequence-number": self._receive_by_sequence_number,
            "update-disposition": self._update_disposition,
        }

    def handle(self, request: Request) -> Response:
        """Execute a request; what is wrong with it is in the response."""
        try:
            operation = self._operations.get(request.operation.removeprefix(OPERATION_PREFIX))
            if operation is None:
                raise AmqpError(Condition.NOT_IMPLEMENTED, f"The operation {request.operation!r} is not supported.")
            if not isinstance(request.body, dict):
                raise InvalidRequest("The body of a management request must be a map.")
            return operation({str(name): value for name, value in request.body.items()})
        except AmqpError as error:
            status = STATUS_OF_CONDITION.get(error.condition, BAD_REQUEST)
            return Response(status, error.description, error.condition)

    def _renew_lock(self, body: dict[str, Any]) -> Response:
        ends = self._queue.renew(_array(body, "lock-tokens", uuid.UUID))
        return Response(OK, "OK", body={"expirations": timestamps(ends)})

    def _peek(self, body: dict[str, Any]) -> Response:
        start, count = _field(body, "from-sequence-number", int), _field(body, "message-count", int)
        messages = self._queue.peek(start, count)
        if not messages:
            return Response(NO_CONTENT, "No messages", ServiceBusCondition.MESSAGE_NOT_FOUND)
        return Response(OK, "OK", body={"messages": [{"message": write_message(message)} for message in messages]})

    def _schedule(self, body: dict[str, Any]) -> Response:
        entries = _field(body, "messages", list)
        if not all(isinstance(entry, dict) for entry in entries):
            raise InvalidRequest("'messages' must hold maps.")
        submissions = [read_message(_field(entry, "message", bytes)) for entry in entries]
        if any(submission.scheduled_for_ms is None for submission in submissions):
            raise InvalidRequest("A message to schedule must have the annotation x-opt-scheduled-enqueue-time.")
        return Response(OK, "OK", body={"sequence-numbers": longs(self._queue.send(submissions))})

    def _cancel_scheduled(self, body: dict[str, Any]) -> Response:
        self._queue.cancel_scheduled(_array(body, "sequence-numbers", int))
        return Response(OK, "OK")

    def _receive_by_sequence_number(self, body: dict[str, Any]) -> Response:
        lock = _field(body, "receiver-settle-mode", int) != RECEIVE_AND_DELETE
        messages = self._queue.receive_deferred(_array(body, "sequence-numbers", int), lock=lock)
        return Response(OK, "OK", body={"messages": [_deferred_entry(message) for message in messages]})

    def _update_disposition(self, body: dict[str, Any]) -> Response:
        tokens = _array(body, "lock-tokens", uuid.UUID)
        outcome = _outcome(body)
        self._queue.require_locked(tokens)
        for token in tokens:
            settle(self._queue, token, outcome)
        return Response(OK, "OK")


def _deferred_entry(message: StoredMessage) -> dict[str, object]:
    token = {} if message.lock_token is None else {"lock-token": message.lock_token}
    return token | {"message": write_message(message)}


def _outcome(body: dict[str, Any]) -> Outcome:
    """What a disposition status means, told as the outcome that a receiver's link would send."""
    changes = body.get("properties-to-modify") or {}
    match _field(body, "disposition-status", str):
        case "completed":
            return Accepted()
        case "abandoned":
            return Modified(delivery_failed=True, message_annotations=changes)
        case "defered":  # so spelled by the service
            return Modified(undeliverable_here=True, message_annotations=changes)
        case "suspended":
            details = {
                REASON_PROPERTY: body.get("deadletter-reason"),
                DESCRIPTION_PROPERTY: body.get("deadletter-description"),
            }
            return Rejected(ErrorInfo(ServiceBusCondition.DEAD_LETTER, info=details | changes))
        case status:
            raise InvalidRequest(f"The disposition status {status!r} is not supported.")


def _field[T](body: dict[str, Any], name: str, kind: type[T]) -> T:
    value = body.get(name)
    if not isinstance(value, kind):
        raise InvalidRequest(f"{name!r} must be a {kind.__name__}.")
    return value


def _array[T](body: dict[str, Any], name: str, kind: type[T]) -> list[T]:
    value = body.get(name)
    items = value.items if isinstance(value, Array) else value
    if not isinstance(items, tuple | list) or not all(isinstance(item, kind) for item in items):
        raise InvalidRequest(f"{name!r} must be an array of {kind.__name__}.")
    return list(items)
