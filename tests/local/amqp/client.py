"""A bare AMQP client for tests: it sends what it is told and gives every frame it gets, right or wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from local.amqp.connection import MAX_FRAME_SIZE
from local.amqp.frames import Frame, FrameReader, FrameType, Protocol, ProtocolHeader, build_frame, protocol_header
from local.amqp.performatives import (
    Attach,
    Begin,
    Disposition,
    Flow,
    Open,
    Performative,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
    Transfer,
    decode_performative,
)
from local.amqp.states import Outcome, encode_outcome
from local.amqp.values import Described, Symbol, UByte, UInt, ULong

DEADLINE = 5.0  # seconds; an answer that takes longer will not come
WINDOW = UInt(1000)
SOURCE_CODE, TARGET_CODE = ULong(0x28), ULong(0x29)


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._stream = reader
        self._writer = writer
        self._frames = FrameReader(MAX_FRAME_SIZE)
        self._items: list[ProtocolHeader | Frame] = []

    def send_bytes(self, data: bytes) -> None:
        self._writer.write(data)

    def send(self, performative: Performative, payload: bytes = b"", *, channel: int = 0) -> None:
        sasl = isinstance(performative, SaslInit)
        self.send_bytes(build_frame(FrameType.SASL if sasl else FrameType.AMQP, channel, performative, payload))

    async def next_item(self) -> ProtocolHeader | Frame | None:
        """The next protocol header or frame, heartbeats included; None when the broker has hung up."""
        async with asyncio.timeout(DEADLINE):
            while not self._items:
                data = await self._stream.read(MAX_FRAME_SIZE)
                if not data:
                    return None
                self._items += self._frames.feed(data)
        return self._items.pop(0)

    async def expect[T](self, kind: type[T]) -> T:
        """The next performative, which must be of this kind."""
        performative, _ = await self.expect_frame(kind)
        return performative

    async def expect_frame[T](self, kind: type[T]) -> tuple[T, bytes]:
        item = await self.next_item()
        while isinstance(item, Frame) and not item.body:
            item = await self.next_item()
        assert isinstance(item, Frame), f"expected {kind.__name__}, got {item}"
        performative, payload = decode_performative(item.body)
        assert isinstance(performative, kind), f"expected {kind.__name__}, got {performative}"
        return performative, payload

    async def open(self, *, max_frame_size: int = MAX_FRAME_SIZE, idle_time_out: int | None = None) -> None:
        """Everything up to and with the open."""
        self.send_bytes(protocol_header(Protocol.SASL))
        assert isinstance(await self.next_item(), ProtocolHeader)
        await self.expect(SaslMechanisms)
        self.send(SaslInit(mechanism=Symbol("ANONYMOUS")))
        assert (await self.expect(SaslOutcome)).code == 0
        self.send_bytes(protocol_header(Protocol.AMQP))
        assert isinstance(await self.next_item(), ProtocolHeader)
        idle = None if idle_time_out is None else UInt(idle_time_out)
        self.send(Open(container_id="test", max_frame_size=UInt(max_frame_size), idle_time_out=idle))
        await self.expect(Open)

    async def begin(self, *, window: int = WINDOW) -> None:
        self.send(Begin(next_outgoing_id=UInt(0), incoming_window=UInt(window), outgoing_window=WINDOW))
        await self.expect(Begin)

    async def attach_sender(self, address: str, *, handle: int = 0) -> Attach:
        """Ask for a link to send into; returns the broker's attach, and takes the flow behind it."""
        self.send_attach(address, handle=handle, receives=False)
        answer = await self.expect(Attach)
        await self.expect(Flow)
        return answer

    async def attach_receiver(self, address: str, *, handle: int = 1, settled: bool = False) -> Attach:
        """Ask for a link to receive from; returns the broker's attach."""
        self.send_attach(address, handle=handle, receives=True, settled=settled)
        return await self.expect(Attach)

    def send_attach(
        self,
        address: str,
        *,
        handle: int,
        receives: bool,
        settled: bool = False,
        target_code: ULong = TARGET_CODE,
        filters: dict[object, object] | None = None,
    ) -> None:
        peer = "test-node"
        source = [address if receives else peer, None, None, None, None, None, None, filters]
        self.send(
            Attach(
                name=f"{address}-{handle}",
                handle=UInt(handle),
                role=receives,
                snd_settle_mode=UByte(1 if settled else 0),
                source=Described(SOURCE_CODE, source),
                target=Described(target_code, [peer if receives else address]),
                initial_delivery_count=None if receives else UInt(0),
            )
        )

    def send_message(self, encoded: bytes, *, delivery_id: int = 0, message_format: int = 0, handle: int = 0) -> None:
        self.send(
            Transfer(
                handle=UInt(handle),
                delivery_id=UInt(delivery_id),
                delivery_tag=b"%d" % delivery_id,
                message_format=UInt(message_format),
                settled=False,
            ),
            encoded,
        )

    def grant(
        self, credit: int, *, handle: int = 1, drain: bool = False, received: int = 0, window: int = WINDOW
    ) -> None:
        """Grant credit on a receiving link, after `received` deliveries, each of one frame."""
        self.send(
            Flow(
                next_incoming_id=UInt(received),
                incoming_window=UInt(window),
                next_outgoing_id=UInt(0),
                outgoing_window=WINDOW,
                handle=UInt(handle),
                delivery_count=UInt(received),
                link_credit=UInt(credit),
                drain=drain,
            )
        )

    async def round_trip(self) -> None:
        """Return when the broker has handled everything sent so far."""
        self.send(Flow(incoming_window=WINDOW, next_outgoing_id=UInt(0), outgoing_window=WINDOW, echo=True))
        await self.expect(Flow)

    def settle(self, delivery_id: int, outcome: Outcome) -> None:
        number = UInt(delivery_id)
        self.send(Disposition(role=True, first=number, last=number, settled=False, state=encode_outcome(outcome)))

    async def close(self) -> None:
        self._writer.close()
        await asyncio.wait([asyncio.create_task(self._writer.wait_closed())], timeout=DEADLINE)


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    """A client with a TCP connection, and nothing said yet."""
    client = Client(*await asyncio.open_connection("127.0.0.1", port))
    try:
        yield client
    finally:
        await client.close()
