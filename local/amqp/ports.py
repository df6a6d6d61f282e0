"""What a broker gives the engine, and what the engine lets a link do. Nothing here knows of any particular broker."""

from typing import TYPE_CHECKING, Protocol

from .performatives import Performative
from .states import Outcome

if TYPE_CHECKING:
    from .link import IncomingDelivery, IncomingLink, Link, OutgoingLink


class Container(Protocol):
    """The broker behind the engine."""

    def on_attach(self, link: "IncomingLink | OutgoingLink") -> None:
        """A client asks for a link: call `accept` or `refuse` on it, now or later."""


class Sink(Protocol):
    """Where the messages of an incoming link go."""

    def on_message(self, delivery: "IncomingDelivery") -> None:
        """Take a message and settle its delivery. An AmqpError raised from here rejects the delivery."""

    def on_detached(self) -> None:
        """The link is gone."""


class Source(Protocol):
    """Where the messages of an outgoing link come from."""

    def on_credit(self) -> None:
        """The client granted credit: send what there is, up to the credit of the link."""

    def on_outcome(self, tag: bytes, outcome: Outcome) -> Outcome:
        """The client decided about the delivery with this tag. Returns what it is told in answer."""

    def on_detached(self) -> None:
        """The link is gone; deliveries that it left unsettled get no outcome any more."""


class Channel(Protocol):
    """The part of a session that a link sees."""

    def send(self, performative: Performative) -> None:
        """Send a frame of the session."""

    def send_flow(self, handle: int, delivery_count: int, credit: int, *, drain: bool = False) -> None:
        """Tell the credit of a link, along with the windows of the session."""

    def send_message(self, link: "OutgoingLink", encoded: bytes, tag: bytes, *, settled: bool) -> None:
        """Send a message, in as many frames as it takes, as soon as the client's window allows."""

    def withdraw(self, link: "Link") -> None:
        """Drop the frames of a link that wait for the client's window: the link ends."""
