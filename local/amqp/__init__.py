"""An AMQP 1.0 server engine: the protocol, and nothing of any particular broker.

Start with `ports.Container`: a broker answers attaches there, takes messages as a `Sink` and gives them as a `Source`.
The layers from the bottom: values, decode and encode (types), frames and performatives (framing), message and states
(messaging), link, session and connection (transport), server (sockets).
"""

from .errors import AmqpError, Condition, DecodeError
from .link import IncomingDelivery, IncomingLink, LinkState, OutgoingLink
from .message import BATCH_MESSAGE_FORMAT, Header, Message, Section, batch_entries, encode_section
from .ports import Container, Sink, Source
from .server import LOOPBACK, AmqpServer
from .states import Accepted, ErrorInfo, Modified, Outcome, Rejected, Released

__all__ = [
    "BATCH_MESSAGE_FORMAT",
    "LOOPBACK",
    "Accepted",
    "AmqpError",
    "AmqpServer",
    "Condition",
    "Container",
    "DecodeError",
    "ErrorInfo",
    "Header",
    "IncomingDelivery",
    "IncomingLink",
    "LinkState",
    "Message",
    "Modified",
    "Outcome",
    "OutgoingLink",
    "Rejected",
    "Released",
    "Section",
    "Sink",
    "Source",
    "batch_entries",
    "encode_section",
]
