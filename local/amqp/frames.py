"""Cuts the byte stream into protocol headers and frames, and builds them.

Source: OASIS AMQP 1.0, part 2, sections 2.2 (Version Negotiation) and 2.3 (Framing).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from .errors import FramingError
from .performatives import Performative, encode_performative

PREFIX = struct.Struct(">IBBH")  # size, data offset, type, channel
HEADER_SIZE = 8  # of a protocol header, and of the fixed part of a frame
MIN_DATA_OFFSET = 2  # in words of four bytes: no extended header
# The frame size every container accepts, and the limit until the peer's open has told its own (2.7.1).
MIN_MAX_FRAME_SIZE = 512


class Protocol(IntEnum):
    """The protocol id of a protocol header."""

    AMQP = 0
    TLS = 2
    SASL = 3


class FrameType(IntEnum):
    """The type byte of a frame."""

    AMQP = 0
    SASL = 1


@dataclass(frozen=True, slots=True)
class ProtocolHeader:
    """The eight bytes that start a protocol layer."""

    protocol: int  # a Protocol, or something we do not speak
    version: bytes  # major, minor, revision


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, its body still encoded."""

    kind: int  # a FrameType
    channel: int  # the session; 0 for connection and SASL frames
    body: bytes  # performative and payload; empty in a heartbeat


VERSION = bytes((1, 0, 0))
HEARTBEAT = PREFIX.pack(HEADER_SIZE, MIN_DATA_OFFSET, FrameType.AMQP, 0)


class FrameReader:
    """Collects received bytes and yields what is complete."""

    def __init__(self, max_frame_size: int) -> None:
        """`max_frame_size` is the limit in bytes that we announce in our open; a larger frame raises FramingError."""
        self._max_frame_size = max_frame_size
        self._received = bytearray()

    def feed(self, data: bytes) -> Iterator[ProtocolHeader | Frame]:
        """Yield every protocol header and frame completed by `data`; raise FramingError when it makes no sense."""
        received = self._received
        received += data
        position = 0
        try:
            while len(received) - position >= HEADER_SIZE:
                if received[position : position + 4] == b"AMQP":
                    yield ProtocolHeader(received[position + 4], bytes(received[position + 5 : position + HEADER_SIZE]))
                    position += HEADER_SIZE
                    continue
                size, offset, kind, channel = PREFIX.unpack_from(received, position)
                if not HEADER_SIZE <= offset * 4 <= size <= self._max_frame_size:
                    raise FramingError(f"a frame of {size} bytes with its body at {offset * 4} is not acceptable")
                if len(received) - position < size:
                    break
                yield Frame(kind, channel, bytes(received[position + offset * 4 : position + size]))
                position += size
        finally:
            del received[:position]


def protocol_header(protocol: Protocol) -> bytes:
    """The header that starts a layer."""
    return b"AMQP" + bytes((protocol,)) + VERSION


def build_frame(kind: FrameType, channel: int, performative: Performative, payload: bytes = b"") -> bytes:
    """One frame, ready to send."""
    out = bytearray(HEADER_SIZE)
    encode_performative(performative, out)
    out += payload
    PREFIX.pack_into(out, 0, len(out), MIN_DATA_OFFSET, kind, channel)
    return bytes(out)
