"""What can go wrong on the wire, and how AMQP names it. Source: OASIS AMQP 1.0, part 2, section 2.8 (Errors)."""

from enum import StrEnum


class Condition(StrEnum):
    """Error conditions that the engine raises itself; a broker adds its own as text."""

    CONNECTION_FORCED = "amqp:connection:forced"
    DECODE_ERROR = "amqp:decode-error"
    FRAMING_ERROR = "amqp:connection:framing-error"
    HANDLE_IN_USE = "amqp:session:handle-in-use"
    ILLEGAL_STATE = "amqp:illegal-state"
    INTERNAL_ERROR = "amqp:internal-error"
    MESSAGE_SIZE_EXCEEDED = "amqp:link:message-size-exceeded"
    NOT_ALLOWED = "amqp:not-allowed"
    NOT_FOUND = "amqp:not-found"
    NOT_IMPLEMENTED = "amqp:not-implemented"
    UNATTACHED_HANDLE = "amqp:session:unattached-handle"


class AmqpError(Exception):
    """An error that the peer is told: in a rejected outcome, a detach, an end or a close."""

    def __init__(self, condition: str, description: str) -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition
        self.description = description


class DecodeError(AmqpError):
    """The peer sent bytes that are not AMQP 1.0."""

    def __init__(self, description: str) -> None:
        super().__init__(Condition.DECODE_ERROR, description)


class FramingError(AmqpError):
    """The peer sent a frame that cannot be cut out of the stream; the connection is lost."""

    def __init__(self, description: str) -> None:
        super().__init__(Condition.FRAMING_ERROR, description)


class EncodeError(Exception):
    """Our own code asked for something that AMQP cannot express."""
