"""A connection: protocol headers, SASL, open and close, heartbeats, and the sessions on it.

Source: OASIS AMQP 1.0, part 2, sections 2.2 to 2.4; part 5, section 5.3 (SASL).
"""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable
from enum import Enum, auto
from typing import cast

from .errors import AmqpError, Condition
from .frames import (
    HEARTBEAT,
    MIN_MAX_FRAME_SIZE,
    VERSION,
    Frame,
    FrameReader,
    FrameType,
    Protocol,
    ProtocolHeader,
    build_frame,
    protocol_header,
)
from .performatives import (
    Begin,
    Close,
    End,
    Open,
    Performative,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
    decode_performative,
)
from .ports import Container
from .session import Session
from .states import ErrorInfo, encode_error
from .values import UByte, UInt, UShort, symbols

LOG = logging.getLogger(__name__)

CONTAINER_ID = "local-amqp"
MAX_FRAME_SIZE = 65536  # bytes; what Azure's brokers announce
CHANNEL_MAX = UShort(4095)
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # linger for no time at all: what is unsent is dropped
# Clients of Azure choose ANONYMOUS (they show their token later, to $cbs) or the claims mechanism itself.
SASL_MECHANISMS = ("MSSBCBS", "ANONYMOUS")
SASL_OK, SASL_REFUSED = UByte(0), UByte(1)


class Stage(Enum):
    """What the connection waits for."""

    SASL_HEADER = auto()
    SASL_INIT = auto()
    AMQP_HEADER = auto()
    OPEN = auto()
    FRAMES = auto()
    NOTHING = auto()  # closed, by either side


class Connection(asyncio.Protocol):
    """One TCP connection of a client."""

    def __init__(self, container: Container, on_lost: Callable[["Connection"], None]) -> None:
        self._container = container
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._stage = Stage.SASL_HEADER
        self._reader = FrameReader(MAX_FRAME_SIZE)
        self._remote_max_frame_size = MIN_MAX_FRAME_SIZE
        self._sessions: dict[int, Session] = {}
        self._unsent: list[bytes] = []
        self._flush_scheduled = False
        self._writable = True
        self._heartbeat: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # Frames are small and each may be an answer somebody waits for: do not hold them back to fill a packet.
        self._transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio names it
        self._stage = Stage.NOTHING
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._close_sessions()
        self._on_lost(self)

    def data_received(self, data: bytes) -> None:
        try:
            for item in self._reader.feed(data):
                if self._stage is Stage.NOTHING:
                    return
                match item:
                    case ProtocolHeader():
                        self._on_header(item)
                    case Frame(body=b""):
                        pass  # a heartbeat
                    case Frame():
                        self._on_frame(item)
        except AmqpError as error:
            if self._stage is Stage.SASL_HEADER:
                LOG.warning("no AMQP header came: the client may speak TLS; see UseDevelopmentEmulator=true")
            self._fail(error)

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        for session in self._sessions.values():
            session.resume()

    def abort(self) -> None:
        """Cut the connection as a network failure would: no close frame, no flush, a reset instead of an end."""
        if self._transport is not None:
            peer = self._transport.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            self._transport.abort()

    def shut_down(self) -> None:
        """End the connection with a word to the client."""
        self._fail(AmqpError(Condition.CONNECTION_FORCED, "the broker shuts down"))

    def _on_header(self, header: ProtocolHeader) -> None:
        wanted = Protocol.SASL if self._stage is Stage.SASL_HEADER else Protocol.AMQP
        self._write(protocol_header(wanted))
        if self._stage not in (Stage.SASL_HEADER, Stage.AMQP_HEADER) or (header.protocol, header.version) != (
            wanted,
            VERSION,
        ):
            # Per section 2.2 the answer to an unacceptable header is the one we would accept, and the end.
            LOG.warning("a client asked for protocol %s where %s is spoken", header.protocol, wanted.name)
            self._hang_up()
        elif wanted is Protocol.SASL:
            self._send_sasl(SaslMechanisms(sasl_server_mechanisms=symbols(SASL_MECHANISMS)))
            self._stage = Stage.SASL_INIT
        else:
            self._stage = Stage.OPEN

    def _on_frame(self, frame: Frame) -> None:
        performative, payload = decode_performative(frame.body)
        match self._stage, frame.kind, performative:
            case Stage.SASL_INIT, FrameType.SASL, SaslInit(mechanism=mechanism):
                self._on_sasl_init(mechanism)
            case Stage.OPEN, FrameType.AMQP, Open():
                self._on_open(performative)
            case Stage.FRAMES, FrameType.AMQP, Begin():
                self._on_begin(frame.channel, performative)
            case Stage.FRAMES, FrameType.AMQP, End():
                self._on_end(frame.channel)
            case Stage.FRAMES, FrameType.AMQP, Close():
                self._send(0, Close())
                self._hang_up()
            case Stage.FRAMES, FrameType.AMQP, _:
                self._on_session_frame(frame.channel, performative, payload)
            case _:
                kind = type(performative).__name__
                raise AmqpError(Condition.ILLEGAL_STATE, f"{kind} is not expected while waiting for {self._stage.name}")

    def _on_sasl_init(self, mechanism: str) -> None:
        if mechanism in SASL_MECHANISMS:
            self._send_sasl(SaslOutcome(code=SASL_OK))
            self._stage = Stage.AMQP_HEADER
        else:
            self._send_sasl(SaslOutcome(code=SASL_REFUSED))
            self._hang_up()

    def _on_open(self, request: Open) -> None:
        self._remote_max_frame_size = max(MIN_MAX_FRAME_SIZE, min(MAX_FRAME_SIZE, int(request.max_frame_size)))
        self._stage = Stage.FRAMES
        self._send(
            0,
            Open(
                container_id=CONTAINER_ID,
                hostname=request.hostname,
                max_frame_size=UInt(MAX_FRAME_SIZE),
                channel_max=CHANNEL_MAX,
            ),
        )
        if request.idle_time_out:
            # Half of what the client tolerates, as section 2.4.5 recommends; milliseconds on the wire, seconds here.
            self._beat(int(request.idle_time_out) / 1000 / 2)

    def _beat(self, interval: float) -> None:
        self._write(HEARTBEAT)
        self._heartbeat = self._loop.call_later(interval, self._beat, interval)

    def _on_begin(self, channel: int, begin: Begin) -> None:
        if channel in self._sessions or channel > CHANNEL_MAX:
            raise AmqpError(Condition.NOT_ALLOWED, f"channel {channel} is in use or too high")
        session = self._sessions[channel] = Session(
            self._container,
            begin,
            self._remote_max_frame_size,
            send_frame=lambda performative, payload: self._send(channel, performative, payload),
            may_send=lambda: self._writable,
        )
        session.begin(channel)

    def _on_end(self, channel: int) -> None:
        session = self._sessions.pop(channel, None)
        if session is not None:
            session.close()
            self._send(channel, End())

    def _on_session_frame(self, channel: int, performative: Performative, payload: bytes) -> None:
        session = self._sessions.get(channel)
        if session is None:
            return  # ended by us, or by a client such as the Python SDK, which detaches links after their session
        try:
            session.receive(performative, payload)
        except AmqpError as error:
            LOG.warning("session %s ends: %s", channel, error)
            del self._sessions[channel]
            session.close()
            self._send(channel, End(error=encode_error(ErrorInfo.of(error))))

    def _fail(self, error: AmqpError) -> None:
        LOG.warning("connection ends: %s", error)
        if self._stage is Stage.FRAMES:
            self._send(0, Close(error=encode_error(ErrorInfo.of(error))))
        self._hang_up()

    def _hang_up(self) -> None:
        self._flush()
        self._stage = Stage.NOTHING
        self._close_sessions()
        if self._transport is not None:
            self._transport.close()

    def _close_sessions(self) -> None:
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.close()

    def _send(self, channel: int, performative: Performative, payload: bytes = b"") -> None:
        self._write(build_frame(FrameType.AMQP, channel, performative, payload))

    def _send_sasl(self, performative: Performative) -> None:
        self._write(build_frame(FrameType.SASL, 0, performative))

    def _write(self, data: bytes) -> None:
        """Frames of one turn of the loop leave in one system call."""
        self._unsent.append(data)
        if not self._flush_scheduled:
            self._flush_scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_scheduled = False
        unsent, self._unsent = self._unsent, []
        if self._transport is not None and self._stage is not Stage.NOTHING and unsent:
            self._transport.write(b"".join(unsent))
