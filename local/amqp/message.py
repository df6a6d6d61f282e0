"""The sections of an AMQP message. Source: OASIS AMQP 1.0, part 3, section 3.2 (Message Format).

The bare message (properties, application properties, body) is kept as the bytes it arrived in: a broker must not change
it. Only the sections that belong to the transport are read and written anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from .decode import Buffer, decode, skip
from .encode import encode
from .errors import DecodeError
from .values import Described, UByte, UInt, ULong

# A transfer of this format holds one complete encoded message in each data section (Service Bus and Event Hubs).
BATCH_MESSAGE_FORMAT = 0x80013700


class Section(IntEnum):
    """Descriptor codes of the sections, in the order the sections stand."""

    HEADER = 0x70
    DELIVERY_ANNOTATIONS = 0x71
    MESSAGE_ANNOTATIONS = 0x72
    PROPERTIES = 0x73
    APPLICATION_PROPERTIES = 0x74
    DATA = 0x75
    SEQUENCE = 0x76
    VALUE = 0x77
    FOOTER = 0x78


@dataclass(frozen=True, slots=True)
class Header:
    """Transport facts of a message (3.2.1)."""

    durable: bool | None = None  # survives a restart of the broker
    priority: UByte | None = None  # higher is more urgent
    ttl_ms: UInt | None = None  # milliseconds the message lives
    first_acquirer: bool | None = None  # nobody else had it before
    delivery_count: UInt | None = None  # failed deliveries so far


@dataclass(frozen=True, slots=True)
class Message:
    """An encoded message, taken apart as far as a broker needs."""

    header: Header = field(default_factory=Header)  # transport facts
    delivery_annotations: dict[Any, Any] = field(default_factory=dict)  # for the next hop alone
    annotations: dict[Any, Any] = field(default_factory=dict)  # for the infrastructure along the way
    properties: bytes = b""  # the encoded properties section, or nothing
    application_properties: bytes = b""  # the encoded application properties section, or nothing
    body: bytes = b""  # the encoded body sections and footer

    @classmethod
    def parse(cls, encoded: Buffer) -> "Message":
        """Take a message apart; raises DecodeError when it is none. Delivery annotations end here: they are per hop."""
        header, annotations, properties, application_properties = Header(), {}, b"", b""
        body = bytearray()
        for code, start, value_start, end in sections(encoded):
            match code:
                case Section.HEADER:
                    header = Header(*_value_of(list, encoded, value_start)[:5])
                case Section.DELIVERY_ANNOTATIONS:
                    pass
                case Section.MESSAGE_ANNOTATIONS:
                    annotations = _value_of(dict, encoded, value_start)
                case Section.PROPERTIES:
                    properties = bytes(encoded[start:end])
                case Section.APPLICATION_PROPERTIES:
                    application_properties = bytes(encoded[start:end])
                case _:
                    body += encoded[start:end]
        return cls(header, {}, annotations, properties, application_properties, bytes(body))

    def encode(self) -> bytes:
        """The message as one run of bytes."""
        header = self.header
        fields = [header.durable, header.priority, header.ttl_ms, header.first_acquirer, header.delivery_count]
        out = bytearray()
        if any(value is not None for value in fields):
            out += encode_section(Section.HEADER, fields)
        if self.delivery_annotations:
            out += encode_section(Section.DELIVERY_ANNOTATIONS, self.delivery_annotations)
        if self.annotations:
            out += encode_section(Section.MESSAGE_ANNOTATIONS, self.annotations)
        return bytes(out + self.properties + self.application_properties + self.body)

    def properties_list(self) -> list[Any]:
        """The properties by position: message-id, user-id, to, subject, reply-to, correlation-id, ..."""
        return _value_of(list, self.properties, skip(self.properties, 1)) if self.properties else []

    def application_properties_map(self) -> dict[Any, Any]:
        """The application's own properties."""
        encoded = self.application_properties
        return _value_of(dict, encoded, skip(encoded, 1)) if encoded else {}

    def body_value(self) -> Any:
        """The value of an amqp-value body; None for a body of another kind."""
        for code, _, value_start, _ in sections(self.body):
            if code == Section.VALUE:
                return decode(self.body, value_start)[0]
        return None


def sections(encoded: Buffer) -> Iterator[tuple[Section, int, int, int]]:
    """Yield every section as (code, start, start of its value, end); raises DecodeError."""
    position = 0
    while position < len(encoded):
        if encoded[position] != 0x00:
            raise DecodeError("a message section has no descriptor")
        descriptor, value_start = decode(encoded, position + 1)
        try:
            code = Section(descriptor)
        except ValueError as error:
            raise DecodeError(f"{descriptor!r} is not a message section") from error
        end = skip(encoded, value_start)
        yield code, position, value_start, end
        position = end


def encode_section(code: Section, value: object) -> bytes:
    """One section as bytes."""
    return bytes(encode(Described(ULong(code), value)))


def batch_entries(encoded: Buffer) -> list[bytes]:
    """The encoded messages inside a batch; raises DecodeError when a data section holds no binary."""
    return [
        _value_of(bytes, encoded, value_start) for code, _, value_start, _ in sections(encoded) if code == Section.DATA
    ]


def _value_of[T](kind: type[T], encoded: Buffer, value_start: int) -> T:
    value, _ = decode(encoded, value_start)
    if not isinstance(value, kind):
        raise DecodeError(f"a message section holds a {type(value).__name__} where a {kind.__name__} belongs")
    return value
