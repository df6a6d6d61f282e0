"""Links, named by what the client does: it sends into an incoming link and receives from an outgoing one.

Source: OASIS AMQP 1.0, part 2, section 2.6 (Links).
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from .errors import AmqpError, Condition
from .performatives import Attach, Detach, Disposition, Flow, Transfer
from .ports import Channel, Sink, Source
from .states import Accepted, ErrorInfo, Outcome, Rejected, encode_error, encode_outcome
from .values import Array, Described, UByte, UInt, ULong

COORDINATOR_CODE = 0x30  # the target of a link that controls transactions (part 4, section 4.5.1)
FILTER_FIELD = 7  # of a source (part 3, section 3.5.3)
SETTLED_MODE = 1  # sender settle mode: every delivery is settled when sent
# Credit of a client that sends: it is granted with the attach and topped up when half of it is used.
SEND_CREDIT = 1000
SERIAL_NUMBERS = 2**32  # delivery counts wrap around here


class LinkState(Enum):
    """The life of a link."""

    REQUESTED = auto()  # the client has asked; the broker has not answered
    ATTACHED = auto()  # messages flow
    DETACHED = auto()  # either side has ended it; frames still under way are ignored


class Link:
    """What both directions share: the answer to the attach, and the end."""

    def __init__(self, channel: Channel, request: Attach) -> None:
        self.channel = channel
        self.request = request
        self.handle = request.handle
        self.state = LinkState.REQUESTED

    @property
    def source_address(self) -> str:
        """The address messages come from, as the client wrote it."""
        return _address(self.request.source)

    @property
    def target_address(self) -> str:
        """The address messages go to, as the client wrote it."""
        return _address(self.request.target)

    @property
    def filters(self) -> dict[str, Any]:
        """The filters of the source by name, without their descriptors."""
        source = self.request.source
        fields = source.value if source is not None and isinstance(source.value, list) else []
        filters = fields[FILTER_FIELD] if len(fields) > FILTER_FIELD else None
        return {
            str(name): content.value if isinstance(content, Described) else content
            for name, content in (filters or {}).items()
        }

    @property
    def properties(self) -> dict[str, Any]:
        """What the client says about the link, by name."""
        return {str(name): value for name, value in (self.request.properties or {}).items()}

    def desires(self, capability: str) -> bool:
        """Whether the client asks for this extension."""
        desired = self.request.desired_capabilities
        return capability in (desired.items if isinstance(desired, Array) else (desired,))

    @property
    def is_coordinator(self) -> bool:
        """Whether the client wants to control transactions over this link."""
        target = self.request.target
        return target is not None and target.descriptor == COORDINATOR_CODE

    def refuse(self, error: AmqpError) -> None:
        """Answer the attach as the spec wants it: attach without source and target, then detach with the reason."""
        self._answer(source=None, target=None, max_message_size=None)
        self.close(error)

    def close(self, error: AmqpError) -> None:
        """End the link and tell the client why. What it was sent and has not left yet is not sent any more."""
        if self.state is not LinkState.DETACHED:
            self.state = LinkState.DETACHED
            self.channel.withdraw(self)
            self.channel.send(Detach(handle=self.handle, closed=True, error=encode_error(ErrorInfo.of(error))))

    def _answer(self, source: Described | None, target: Described | None, max_message_size: ULong | None) -> None:
        request = self.request
        self.channel.send(
            Attach(
                name=request.name,
                handle=request.handle,
                role=not request.role,
                snd_settle_mode=request.snd_settle_mode or UByte(0),
                rcv_settle_mode=request.rcv_settle_mode or UByte(0),
                source=source,
                target=target,
                initial_delivery_count=UInt(0) if request.role else None,
                max_message_size=max_message_size,
            )
        )


@dataclass(frozen=True, slots=True)
class IncomingDelivery:
    """A whole message that a client sent."""

    link: "IncomingLink"  # how it came
    delivery_id: int  # its number in the session
    message_format: int  # 0 for a standard message
    encoded: bytes  # the message
    settled: bool  # the client wants no answer

    def accept(self) -> None:
        """Tell the client that the message is safe here."""
        self._settle(Accepted())

    def reject(self, error: AmqpError) -> None:
        """Tell the client why the message is not taken."""
        self._settle(Rejected(ErrorInfo.of(error)))

    def _settle(self, outcome: Outcome) -> None:
        if not self.settled:
            number = UInt(self.delivery_id)
            self.link.channel.send(
                Disposition(role=True, first=number, last=number, settled=True, state=encode_outcome(outcome))
            )


class IncomingLink(Link):
    """The client sends, the broker receives."""

    def __init__(self, channel: Channel, request: Attach) -> None:
        super().__init__(channel, request)
        self.sink: Sink | None = None
        self._max_message_size = 0
        self._delivery_count = int(request.initial_delivery_count or 0)
        self._credit = 0
        self._first: Transfer | None = None
        self._received = bytearray()
        self._size = 0  # of what was received of the message so far, in bytes

    def accept(self, sink: Sink, max_message_size: int) -> None:
        """Let messages of at most `max_message_size` bytes flow into the sink."""
        self.sink = sink
        self._max_message_size = max_message_size
        self.state = LinkState.ATTACHED
        self._answer(self.request.source, self.request.target, ULong(max_message_size))
        self._grant()

    def on_transfer(self, transfer: Transfer, payload: bytes) -> None:
        """Collect the frames of a delivery and hand the whole message over."""
        first = self._first = self._first or transfer
        self._size += len(payload)
        if self._size <= self._max_message_size:
            self._received += payload  # of a message that is too large only the size is kept
        if transfer.more:
            return
        encoded, size = bytes(self._received), self._size
        self._first, self._received, self._size = None, bytearray(), 0
        # A client that overdraws its credit is served: the Python SDK refills its own credit when it has none left.
        self._delivery_count = (self._delivery_count + 1) % SERIAL_NUMBERS
        self._credit -= 1
        if not transfer.aborted:
            self._deliver(first, encoded, size, settled=bool(first.settled or transfer.settled))
        if self._credit <= SEND_CREDIT // 2 and self.state is LinkState.ATTACHED:
            self._grant()

    def on_flow(self, flow: Flow) -> None:
        """Answer a client that asks how much credit it has."""
        if flow.echo:
            self.channel.send_flow(self.handle, self._delivery_count, self._credit)

    def _deliver(self, first: Transfer, encoded: bytes, size: int, *, settled: bool) -> None:
        if first.delivery_id is None or self.sink is None:
            raise AmqpError(Condition.ILLEGAL_STATE, "the first frame of a delivery has no delivery-id")
        message_format = int(first.message_format or 0)
        delivery = IncomingDelivery(self, first.delivery_id, message_format, encoded, settled)
        try:
            if size > self._max_message_size:
                text = f"The received message (delivery-id:{first.delivery_id}, size:{size} bytes) exceeds the limit "
                text += f"({self._max_message_size} bytes) currently allowed on the link."
                raise AmqpError(Condition.MESSAGE_SIZE_EXCEEDED, text)
            self.sink.on_message(delivery)
        except AmqpError as error:
            delivery.reject(error)

    def _grant(self) -> None:
        self._credit = SEND_CREDIT
        self.channel.send_flow(self.handle, self._delivery_count, self._credit)


class OutgoingLink(Link):
    """The broker sends, the client receives."""

    def __init__(self, channel: Channel, request: Attach) -> None:
        super().__init__(channel, request)
        self.source: Source | None = None
        self.credit = 0  # deliveries the client still takes
        self._delivery_count = 0

    @property
    def wants_settled(self) -> bool:
        """Whether the client will give no outcome: every delivery is final when sent."""
        return self.request.snd_settle_mode == SETTLED_MODE

    def accept(self, source: Source, max_message_size: int) -> None:
        """Let messages from the source flow, as the client grants credit."""
        self.source = source
        self.state = LinkState.ATTACHED
        self._answer(self.request.source, self.request.target, ULong(max_message_size))

    def send(self, encoded: bytes, tag: bytes, *, settled: bool) -> None:
        """Send one message; uses one credit. Only with credit left, and only while attached."""
        self.credit -= 1
        self._delivery_count = (self._delivery_count + 1) % SERIAL_NUMBERS
        self.channel.send_message(self, encoded, tag, settled=settled)

    def on_flow(self, flow: Flow) -> None:
        """Take over the credit the client grants, and use it; a draining client gets back what is left."""
        granted = int(flow.delivery_count or 0) + int(flow.link_credit or 0)
        self.credit = max(0, _signed(granted - self._delivery_count))
        if self.source is not None and self.credit:
            self.source.on_credit()
        if flow.drain and self.credit:
            self._delivery_count = (self._delivery_count + self.credit) % SERIAL_NUMBERS
            self.credit = 0
        if flow.drain or flow.echo:
            self.channel.send_flow(self.handle, self._delivery_count, self.credit, drain=flow.drain)


def _signed(difference: int) -> int:
    """The distance between two serial numbers (RFC 1982)."""
    return (difference + SERIAL_NUMBERS // 2) % SERIAL_NUMBERS - SERIAL_NUMBERS // 2


def _address(terminus: Described | None) -> str:
    fields = terminus.value if terminus is not None and isinstance(terminus.value, list) else []
    return fields[0] if fields and isinstance(fields[0], str) else ""
