"""Outcomes of deliveries, and errors as AMQP values.

Source: OASIS AMQP 1.0, part 3, section 3.4 (Delivery State); part 2, section 2.8.14 (Error).
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from .errors import AmqpError, Condition, DecodeError
from .values import Described, Symbol, ULong

ERROR_CODE = 0x1D


class StateCode(IntEnum):
    """Descriptor codes of delivery states."""

    RECEIVED = 0x23
    ACCEPTED = 0x24
    REJECTED = 0x25
    RELEASED = 0x26
    MODIFIED = 0x27


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error that one peer tells the other."""

    condition: str  # the symbol that decides
    description: str | None = None  # for people
    info: dict[Any, Any] = field(default_factory=dict)  # more about it, by symbol

    @classmethod
    def of(cls, error: AmqpError) -> "ErrorInfo":
        return cls(error.condition, error.description)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The receiver has taken the message over."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The message is invalid, or the request about it is refused."""

    error: ErrorInfo | None = None  # why


@dataclass(frozen=True, slots=True)
class Released:
    """The receiver did not and will not act on the message."""


@dataclass(frozen=True, slots=True)
class Modified:
    """The message goes back, changed."""

    delivery_failed: bool = False  # counts as a delivery attempt
    undeliverable_here: bool = False  # not to be sent on this link again
    message_annotations: dict[Any, Any] = field(default_factory=dict)  # to merge into the message


@dataclass(frozen=True, slots=True)
class Received:
    """A part of the message has arrived; not an outcome."""


type Outcome = Accepted | Rejected | Released | Modified


def encode_error(error: ErrorInfo | None) -> Described | None:
    """The AMQP form of an error, always with its three fields."""
    if error is None:
        return None
    return Described(ULong(ERROR_CODE), [Symbol(error.condition), error.description, error.info])


def decode_error(value: Any) -> ErrorInfo | None:
    """The error in an AMQP value; raises DecodeError when there is something else."""
    if value is None:
        return None
    match value:
        case Described(descriptor=int(code), value=[str(condition), *rest]) if code == ERROR_CODE:
            description, info, *_ = [*rest, None, None]
            return ErrorInfo(str(condition), None if description is None else str(description), dict(info or {}))
        case _:
            raise DecodeError("an error is not an AMQP error")


def encode_outcome(outcome: Outcome) -> Described:
    """The AMQP form of an outcome."""
    match outcome:
        case Accepted():
            return Described(ULong(StateCode.ACCEPTED), [])
        case Rejected(error):
            return Described(ULong(StateCode.REJECTED), [encode_error(error)])
        case Released():
            return Described(ULong(StateCode.RELEASED), [])
        case Modified(failed, undeliverable, annotations):
            return Described(ULong(StateCode.MODIFIED), [failed, undeliverable, annotations or None])


def decode_state(value: Any) -> Outcome | Received:
    """The delivery state in a disposition. Transactional states are refused: there are no transactions."""
    match value:
        case Described(descriptor=int(code), value=list(fields)):
            first, second, third, *_ = [*fields, None, None, None]
        case _:
            raise DecodeError("a delivery state is not a described list")
    match code:
        case StateCode.RECEIVED:
            return Received()
        case StateCode.ACCEPTED:
            return Accepted()
        case StateCode.REJECTED:
            return Rejected(decode_error(first))
        case StateCode.RELEASED:
            return Released()
        case StateCode.MODIFIED:
            return Modified(bool(first), bool(second), dict(third or {}))
        case _:
            raise AmqpError(Condition.NOT_IMPLEMENTED, f"delivery state 0x{code:02x} is not supported")
