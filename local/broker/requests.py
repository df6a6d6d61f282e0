"""Requests and responses over a pair of links, as $cbs and $management use them.

Source: OASIS AMQP Management 1.0 (working draft); Microsoft, "AMQP request-response operations in Service Bus".
"""

import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from local.amqp import (
    AmqpError,
    Condition,
    IncomingDelivery,
    IncomingLink,
    Message,
    Outcome,
    OutgoingLink,
    Section,
    encode_section,
)
from local.amqp.ports import Channel
from local.amqp.values import Int, Symbol


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks."""

    operation: str  # application property "operation"
    properties: dict[Any, Any]  # all application properties
    body: Any  # the amqp-value


@dataclass(frozen=True, slots=True)
class Response:
    """What it is told."""

    status: int  # as in HTTP
    description: str  # for people
    condition: str | None = None  # the error condition, when it is an error
    body: Any = None  # the amqp-value


type Handler = Callable[[Request], Response]


class Responder:
    """The link that carries responses. Implements the engine's Source."""

    def __init__(self, link: OutgoingLink, on_detached: Callable[[], None]) -> None:
        self._link = link
        self._waiting: deque[bytes] = deque()
        self.on_detached = on_detached

    def respond(self, encoded: bytes) -> None:
        """Send a response as soon as the client takes one."""
        self._waiting.append(encoded)
        self.on_credit()

    def on_credit(self) -> None:
        while self._waiting and self._link.credit > 0:
            self._link.send(self._waiting.popleft(), uuid.uuid4().bytes, settled=True)

    def on_outcome(self, tag: bytes, outcome: Outcome) -> Outcome:  # noqa: ARG002 - responses are sent settled
        return outcome


class Requester:
    """The link that carries requests. Implements the engine's Sink."""

    def __init__(self, handler: Handler, find_responder: Callable[[], Responder | None]) -> None:
        self._handler = handler
        self._find_responder = find_responder

    def on_message(self, delivery: IncomingDelivery) -> None:
        """Execute a request and send its response."""
        responder = self._find_responder()
        message = Message.parse(delivery.encoded)
        message_id = next(iter(message.properties_list()), None)
        if responder is None or message_id is None:
            raise AmqpError(Condition.NOT_ALLOWED, "a request needs a message-id, and a link to be answered on")
        properties = message.application_properties_map()
        operation = str(properties.get("operation"))
        response = self._handler(Request(operation, properties, message.body_value()))
        delivery.accept()
        responder.respond(_encode(response, message_id))

    def on_detached(self) -> None:
        """Requests already answered need nothing more."""


class RequestNodes:
    """Pairs the two links of a node within their session."""

    def __init__(self) -> None:
        self._responders: dict[tuple[Channel, str], Responder] = {}

    def attach(self, link: IncomingLink | OutgoingLink, node: str, handler: Handler, max_message_size: int) -> None:
        """Accept one of the two links to `node`."""
        key = (link.channel, node)
        if isinstance(link, IncomingLink):
            link.accept(Requester(handler, lambda: self._responders.get(key)), max_message_size)
        else:
            responder = Responder(link, on_detached=lambda: self._remove(key, responder))
            self._responders[key] = responder
            link.accept(responder, max_message_size)

    def _remove(self, key: tuple[Channel, str], responder: Responder) -> None:
        if self._responders.get(key) is responder:
            del self._responders[key]


def _encode(response: Response, correlation_id: object) -> bytes:
    """The response message, with the names of status and condition in both spellings that clients look for."""
    status: dict[str, object] = {
        "statusCode": Int(response.status),
        "status-code": Int(response.status),
        "statusDescription": response.description,
        "status-description": response.description,
    }
    if response.condition is not None:
        status |= {"errorCondition": Symbol(response.condition), "error-condition": Symbol(response.condition)}
    properties = [None, None, None, None, None, correlation_id]
    return (
        encode_section(Section.PROPERTIES, properties)
        + encode_section(Section.APPLICATION_PROPERTIES, status)
        + encode_section(Section.VALUE, response.body)
    )
