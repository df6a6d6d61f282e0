"""A session: windows, numbering, and the links on it. Source: OASIS AMQP 1.0, part 2, section 2.5 (Sessions)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from .errors import AmqpError, Condition
from .link import IncomingLink, Link, LinkState, OutgoingLink
from .performatives import Attach, Begin, Detach, Disposition, Flow, Performative, Transfer
from .ports import Container
from .states import Received, decode_state, encode_outcome
from .values import UInt, UShort

# What a client may send before we say more. Messages are taken as they come, so the window never closes.
INCOMING_WINDOW = UInt(0x7FFFFFFF)
OUTGOING_WINDOW = UInt(0x7FFFFFFF)
HANDLE_MAX = UInt(0xFFFFFFFF)
SERIAL_NUMBERS = 2**32  # transfer and delivery numbers wrap around here
# Room for the frame header and the transfer performative around a payload; the delivery tag comes on top.
TRANSFER_OVERHEAD = 64


@dataclass(frozen=True, slots=True)
class PendingFrame:
    """A transfer frame that waits for the client's window."""

    link: OutgoingLink  # whose delivery it is part of
    transfer: Transfer  # the performative
    payload: bytes  # this frame's part of the message


class Session:
    """One session of a connection. Implements the `Channel` that links see."""

    def __init__(
        self,
        container: Container,
        begin: Begin,
        max_frame_size: int,
        send_frame: Callable[[Performative, bytes], None],
        may_send: Callable[[], bool],
    ) -> None:
        """`max_frame_size` is the client's, in bytes. `may_send` is false while the socket's buffer is full."""
        self._container = container
        self._max_frame_size = max_frame_size
        self._send_frame = send_frame
        self._may_send = may_send
        self._links: dict[int, IncomingLink | OutgoingLink] = {}
        self._next_incoming_id = int(begin.next_outgoing_id)
        self._next_outgoing_id = 0
        self._next_delivery_id = 0
        self._remote_window = int(begin.incoming_window)
        self._pending: deque[PendingFrame] = deque()
        self._unsettled: dict[int, tuple[OutgoingLink, bytes]] = {}

    def begin(self, remote_channel: int) -> None:
        """Answer the client's begin."""
        self.send(
            Begin(
                remote_channel=UShort(remote_channel),
                next_outgoing_id=UInt(0),
                incoming_window=INCOMING_WINDOW,
                outgoing_window=OUTGOING_WINDOW,
                handle_max=HANDLE_MAX,
            )
        )

    def receive(self, performative: Performative, payload: bytes) -> None:
        """Handle a frame of this session. An AmqpError raised from here ends the session."""
        match performative:
            case Attach():
                self._on_attach(performative)
            case Flow():
                self._on_flow(performative)
            case Transfer():
                self._on_transfer(performative, payload)
            case Disposition(role=True):
                self._on_disposition(performative)
            case Disposition():
                pass  # a sending client settles what we have settled already
            case Detach():
                self._on_detach(performative)
            case _:
                raise AmqpError(Condition.NOT_ALLOWED, f"{type(performative).__name__} is not expected in a session")

    def close(self) -> None:
        """The session is gone: so are its links."""
        links, self._links = list(self._links.values()), {}
        for link in links:
            self._forget(link)

    def resume(self) -> None:
        """Send what waits, as far as the client's window and the socket allow."""
        while self._pending and self._remote_window > 0 and self._may_send():
            frame = self._pending.popleft()
            self._remote_window -= 1
            self._next_outgoing_id = (self._next_outgoing_id + 1) % SERIAL_NUMBERS
            self._send_frame(frame.transfer, frame.payload)

    def send(self, performative: Performative) -> None:
        self._send_frame(performative, b"")

    def send_flow(
        self, handle: int | None, delivery_count: int | None, credit: int | None, *, drain: bool = False
    ) -> None:
        self.send(
            Flow(
                next_incoming_id=UInt(self._next_incoming_id),
                incoming_window=INCOMING_WINDOW,
                next_outgoing_id=UInt(self._next_outgoing_id),
                outgoing_window=OUTGOING_WINDOW,
                handle=None if handle is None else UInt(handle),
                delivery_count=None if delivery_count is None else UInt(delivery_count),
                link_credit=None if credit is None else UInt(max(0, credit)),
                drain=drain,
            )
        )

    def send_message(self, link: OutgoingLink, encoded: bytes, tag: bytes, *, settled: bool) -> None:
        delivery_id = self._next_delivery_id
        self._next_delivery_id = (delivery_id + 1) % SERIAL_NUMBERS
        if not settled:
            self._unsettled[delivery_id] = (link, tag)
        transfer = Transfer(
            handle=link.handle,
            delivery_id=UInt(delivery_id),
            delivery_tag=tag,
            message_format=UInt(0),
            settled=settled,
        )
        room = self._max_frame_size - TRANSFER_OVERHEAD - len(tag)
        for start in range(0, max(1, len(encoded)), room):
            part = encoded[start : start + room]
            more = start + room < len(encoded)
            self._pending.append(PendingFrame(link, replace(transfer, more=more), part))
        self.resume()

    def withdraw(self, link: Link) -> None:
        self._pending = deque(frame for frame in self._pending if frame.link is not link)

    def _on_attach(self, request: Attach) -> None:
        if request.handle in self._links:
            raise AmqpError(Condition.HANDLE_IN_USE, f"handle {request.handle} is in use")
        link = OutgoingLink(self, request) if request.role else IncomingLink(self, request)
        self._links[request.handle] = link
        self._container.on_attach(link)

    def _on_flow(self, flow: Flow) -> None:
        # Before the client has seen our begin it cannot name the transfer it expects: that is our first, 0.
        expected = int(flow.next_incoming_id or 0)
        self._remote_window = (expected + int(flow.incoming_window) - self._next_outgoing_id) % SERIAL_NUMBERS
        self.resume()
        if flow.handle is None:
            if flow.echo:
                self.send_flow(None, None, None)
            return
        link = self._link(flow.handle)
        if link.state is LinkState.ATTACHED:
            link.on_flow(flow)

    def _on_transfer(self, transfer: Transfer, payload: bytes) -> None:
        self._next_incoming_id = (self._next_incoming_id + 1) % SERIAL_NUMBERS
        link = self._link(transfer.handle)
        if not isinstance(link, IncomingLink):
            raise AmqpError(Condition.NOT_ALLOWED, "a transfer came on a link that the client receives from")
        if link.state is LinkState.ATTACHED:
            link.on_transfer(transfer, payload)

    def _on_disposition(self, disposition: Disposition) -> None:
        first = int(disposition.first)
        last = first if disposition.last is None else int(disposition.last)
        state = None if disposition.state is None else decode_state(disposition.state)
        # The range is the client's word: never walk more than what is unsettled.
        few = last - first < len(self._unsettled)
        candidates = range(first, last + 1) if few else sorted(self._unsettled)
        for delivery_id in [number for number in candidates if first <= number <= last and number in self._unsettled]:
            link, tag = self._unsettled[delivery_id]
            if state is None or isinstance(state, Received):
                if disposition.settled:
                    del self._unsettled[delivery_id]
                continue
            del self._unsettled[delivery_id]
            if link.source is None:
                continue
            answer = link.source.on_outcome(tag, state)
            if not disposition.settled:
                number = UInt(delivery_id)
                reply = Disposition(role=False, first=number, last=number, settled=True, state=encode_outcome(answer))
                self.send(reply)

    def _on_detach(self, detach: Detach) -> None:
        link = self._links.pop(detach.handle, None)
        if link is None:
            return
        answer = link.state is not LinkState.DETACHED
        self._forget(link)
        if answer:
            self.send(Detach(handle=detach.handle, closed=True))

    def _forget(self, link: IncomingLink | OutgoingLink) -> None:
        link.state = LinkState.DETACHED
        self.withdraw(link)
        self._unsettled = {number: entry for number, entry in self._unsettled.items() if entry[0] is not link}
        handler = link.sink if isinstance(link, IncomingLink) else link.source
        if handler is not None:
            handler.on_detached()

    def _link(self, handle: int) -> IncomingLink | OutgoingLink:
        link = self._links.get(handle)
        if link is None:
            raise AmqpError(Condition.UNATTACHED_HANDLE, f"no link has handle {handle}")
        return link
