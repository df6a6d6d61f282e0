"""The frame bodies of AMQP 1.0 and SASL as values. Source: OASIS AMQP 1.0, part 2, section 2.7; part 5, section 5.3.3.

A field without a default is mandatory on the wire. Frames are written with every field present, null or not: some
clients read fields by position without looking at the length of the list.
"""

from dataclasses import dataclass, fields
from typing import ClassVar

from .decode import Buffer, decode
from .encode import encode
from .errors import DecodeError
from .values import Array, Described, Symbol, UByte, UInt, ULong, UShort

# The spec's default of max-frame-size and channel-max: no limit of the peer's own.
NO_FRAME_LIMIT = UInt(0xFFFFFFFF)
NO_CHANNEL_LIMIT = UShort(0xFFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Starts a connection (2.7.1)."""

    CODE: ClassVar[int] = 0x10
    container_id: str  # who sends this
    hostname: str | None = None  # the host the client meant to reach
    max_frame_size: UInt = NO_FRAME_LIMIT  # bytes; the largest frame the sender accepts
    channel_max: UShort = NO_CHANNEL_LIMIT  # the highest channel number the sender accepts
    idle_time_out: UInt | None = None  # milliseconds of silence after which the sender hangs up
    outgoing_locales: object = None  # languages of error texts it can write
    incoming_locales: object = None  # languages of error texts it wants
    offered_capabilities: object = None  # extensions it has
    desired_capabilities: object = None  # extensions it wants
    properties: dict[object, object] | None = None  # free-form facts about the sender


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """Starts a session on a channel (2.7.2)."""

    CODE: ClassVar[int] = 0x11
    remote_channel: UShort | None = None  # in an answer: the channel of the begin it answers
    next_outgoing_id: UInt  # number of the sender's next transfer frame
    incoming_window: UInt  # transfer frames it accepts now
    outgoing_window: UInt  # transfer frames it may send
    handle_max: UInt = NO_FRAME_LIMIT  # the highest link handle it accepts
    offered_capabilities: object = None  # extensions it has
    desired_capabilities: object = None  # extensions it wants
    properties: dict[object, object] | None = None  # free-form facts about the session


@dataclass(frozen=True, slots=True, kw_only=True)
class Attach:
    """Starts a link on a session (2.7.3)."""

    CODE: ClassVar[int] = 0x12
    name: str  # names the link between the two containers
    handle: UInt  # the number by which frames refer to the link
    role: bool  # True: the sender of this frame receives messages
    snd_settle_mode: UByte | None = None  # 0 unsettled, 1 settled, 2 mixed (the default)
    rcv_settle_mode: UByte | None = None  # 0 settles first (the default), 1 settles second
    source: Described | None = None  # where messages come from
    target: Described | None = None  # where messages go
    unsettled: object = None  # deliveries to resume
    incomplete_unsettled: bool = False  # whether that map is cut short
    initial_delivery_count: UInt | None = None  # mandatory from the side that sends messages
    max_message_size: ULong | None = None  # bytes; none or 0 is no limit
    offered_capabilities: object = None  # extensions it has
    desired_capabilities: object = None  # extensions it wants
    properties: dict[object, object] | None = None  # free-form facts about the link


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """States windows of the session and, with a handle, credit of a link (2.7.4)."""

    CODE: ClassVar[int] = 0x13
    next_incoming_id: UInt | None = None  # the transfer frame expected next
    incoming_window: UInt  # transfer frames accepted now
    next_outgoing_id: UInt  # number of the next transfer frame
    outgoing_window: UInt  # transfer frames that may be sent
    handle: UInt | None = None  # the link meant, or none
    delivery_count: UInt | None = None  # deliveries of the link so far
    link_credit: UInt | None = None  # deliveries that may follow
    available: UInt | None = None  # deliveries waiting at the sender
    drain: bool = False  # use the credit up now, or give it back
    echo: bool = False  # answer with a flow
    properties: dict[object, object] | None = None  # free-form facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Carries a message, or a part of one (2.7.5)."""

    CODE: ClassVar[int] = 0x14
    handle: UInt  # the link
    delivery_id: UInt | None = None  # number of the delivery in its session; on the first frame
    delivery_tag: bytes | None = None  # name of the delivery on its link; on the first frame
    message_format: UInt | None = None  # 0 is a standard message
    settled: bool | None = None  # True: no outcome is wanted
    more: bool = False  # the message goes on in the next frame
    rcv_settle_mode: UByte | None = None  # overrides the link's
    state: Described | None = None  # state at the sender
    resume: bool = False  # resumes an earlier delivery
    aborted: bool = False  # the sender gives this delivery up
    batchable: bool = False  # the receiver need not answer at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Disposition:
    """Tells the state of deliveries (2.7.6)."""

    CODE: ClassVar[int] = 0x15
    role: bool  # True: from the side that receives the messages
    first: UInt  # delivery id
    last: UInt | None = None  # delivery id of the last one meant; none is the same as first
    settled: bool = False  # the sender of this frame has forgotten the deliveries
    state: Described | None = None  # the outcome
    batchable: bool = False  # the peer need not answer at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Detach:
    """Ends a link (2.7.7)."""

    CODE: ClassVar[int] = 0x16
    handle: UInt  # the link
    closed: bool = False  # False: the link may be resumed
    error: Described | None = None  # why


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Ends a session (2.7.8)."""

    CODE: ClassVar[int] = 0x17
    error: Described | None = None  # why


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Ends a connection (2.7.9)."""

    CODE: ClassVar[int] = 0x18
    error: Described | None = None  # why


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslMechanisms:
    """The server's offer (5.3.3.1)."""

    CODE: ClassVar[int] = 0x40
    sasl_server_mechanisms: Array  # symbols


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslInit:
    """The client's choice (5.3.3.2)."""

    CODE: ClassVar[int] = 0x41
    mechanism: Symbol  # one of those offered
    initial_response: bytes | None = None  # credentials, when the mechanism has any
    hostname: str | None = None  # the host the client meant to reach


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslOutcome:
    """The server's verdict (5.3.3.6)."""

    CODE: ClassVar[int] = 0x44
    code: UByte  # 0 ok, 1 refused
    additional_data: bytes | None = None  # of the mechanism


type Performative = (
    Open
    | Begin
    | Attach
    | Flow
    | Transfer
    | Disposition
    | Detach
    | End
    | Close
    | SaslMechanisms
    | SaslInit
    | SaslOutcome
)

CLASSES: tuple[type[Performative], ...] = (
    Open,
    Begin,
    Attach,
    Flow,
    Transfer,
    Disposition,
    Detach,
    End,
    Close,
    SaslMechanisms,
    SaslInit,
    SaslOutcome,
)
BY_CODE = {kind.CODE: kind for kind in CLASSES}
FIELD_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in CLASSES}


def encode_performative(performative: Performative, out: bytearray) -> bytearray:
    """Append the described list that a frame body starts with."""
    values = [getattr(performative, name) for name in FIELD_NAMES[type(performative)]]
    return encode(Described(ULong(performative.CODE), values), out)


def decode_performative(body: Buffer) -> tuple[Performative, bytes]:
    """Read a frame body. Returns the performative and the payload behind it; raises DecodeError."""
    described, end = decode(body)
    match described:
        case Described(descriptor=int(code), value=list(values)) if code in BY_CODE:
            kind = BY_CODE[code]
        case _:
            raise DecodeError("a frame body is not a performative that this container knows")
    present = {name: value for name, value in zip(FIELD_NAMES[kind], values, strict=False) if value is not None}
    try:
        return kind(**present), bytes(body[end:])
    except TypeError as error:
        raise DecodeError(f"{kind.__name__.lower()} lacks a mandatory field") from error
