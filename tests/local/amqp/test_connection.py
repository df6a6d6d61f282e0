"""How connections and sessions begin and end, and what ends them before their time."""

import pytest

from local.amqp import AmqpServer, Condition
from local.amqp.frames import Frame, Protocol, ProtocolHeader, protocol_header
from local.amqp.performatives import Begin, Close, Detach, End, Open, SaslInit, SaslMechanisms, SaslOutcome
from local.amqp.states import decode_error
from local.amqp.values import Symbol, UInt

from .client import Client
from .shelf import Shelf


async def test_end_of_session_ends_links(client: Client, shelf: Shelf) -> None:
    """The broker hears that a link is gone when its session ends; a detach that comes after that is ignored."""
    await client.attach_sender("shelf")
    client.send(End())
    client.send(Detach(handle=UInt(0), closed=True))
    await client.expect(End)
    assert shelf.detached == 1
    client.send(Begin(next_outgoing_id=UInt(0), incoming_window=UInt(1), outgoing_window=UInt(1)))
    await client.expect(Begin)


async def test_unattached_handle(client: Client) -> None:
    """A transfer on a handle that no link has ends the session, not the connection."""
    client.send_message(b"?", handle=5)
    end = await client.expect(End)
    error = decode_error(end.error)
    assert error is not None
    assert error.condition == Condition.UNATTACHED_HANDLE
    await client.begin()


async def test_dropped_connections(server: AmqpServer, client: Client, shelf: Shelf) -> None:
    """Cut connections end without a word, and their links are gone."""
    await client.attach_sender("shelf")
    assert server.drop_connections() == 1
    with pytest.raises(ConnectionResetError):
        await client.next_item()
    assert shelf.detached == 1


async def test_close(client: Client) -> None:
    """A close is answered with a close, and the connection ends."""
    client.send(Close())
    assert (await client.expect(Close)).error is None
    assert await client.next_item() is None


async def test_unknown_mechanism(raw: Client) -> None:
    """A SASL mechanism that was not offered is refused."""
    raw.send_bytes(protocol_header(Protocol.SASL))
    await raw.next_item()
    await raw.expect(SaslMechanisms)
    raw.send(SaslInit(mechanism=Symbol("GSSAPI")))
    assert (await raw.expect(SaslOutcome)).code == 1
    assert await raw.next_item() is None


@pytest.mark.parametrize(
    "opening", [protocol_header(Protocol.AMQP), protocol_header(Protocol.TLS), b"AMQP\x03\x00\x09\x01"]
)
async def test_other_protocol(raw: Client, opening: bytes) -> None:
    """Whoever does not start with SASL of AMQP 1.0 is told that this is what is spoken, and hung up on."""
    raw.send_bytes(opening)
    assert await raw.next_item() == ProtocolHeader(Protocol.SASL, bytes((1, 0, 0)))
    assert await raw.next_item() is None


async def test_no_amqp_at_all(raw: Client) -> None:
    """A TLS handshake or other noise ends the connection."""
    raw.send_bytes(bytes.fromhex("160301020001000200"))
    assert await raw.next_item() is None


async def test_heartbeat(raw: Client) -> None:
    """A client that hangs up on silence hears something before that."""
    await raw.open(idle_time_out=100)
    for _ in range(2):
        item = await raw.next_item()
        assert isinstance(item, Frame)
        assert item.body == b""


async def test_frames_out_of_place(raw: Client) -> None:
    """An open before SASL is done is a mistake that ends the connection."""
    raw.send_bytes(protocol_header(Protocol.SASL))
    await raw.next_item()
    await raw.expect(SaslMechanisms)
    raw.send(Open(container_id="hasty"))
    assert await raw.next_item() is None
