"""Messages over links: handed over, limited, given on credit and settled."""

import pytest

from local.amqp import Accepted, Condition, ErrorInfo, Modified, Outcome, Rejected, Released
from local.amqp.connection import MAX_FRAME_SIZE
from local.amqp.frames import Frame
from local.amqp.performatives import Attach, Detach, Disposition, Flow, Transfer, decode_performative
from local.amqp.states import decode_error, decode_state
from local.amqp.values import UInt

from .client import Client
from .shelf import MAX_MESSAGE_SIZE, Shelf

SMALLEST_FRAME = 512


async def test_send(client: Client, shelf: Shelf) -> None:
    """A message is handed over and its delivery settled as accepted."""
    answer = await client.attach_sender("shelf")
    assert answer.max_message_size == MAX_MESSAGE_SIZE
    client.send_message(b"hello")
    disposition = await client.expect(Disposition)
    assert disposition.settled
    assert decode_state(disposition.state) == Accepted()
    assert shelf.messages == [b"hello"]


async def test_rejected_message(client: Client, shelf: Shelf) -> None:
    """An error that the broker raises about a message is the error of its rejected outcome."""
    await client.attach_sender("shelf")
    client.send_message(b"bad")
    match decode_state((await client.expect(Disposition)).state):
        case Rejected(error):
            assert error is not None
            assert error.condition == Condition.NOT_ALLOWED
        case other:
            pytest.fail(f"not rejected: {other}")
    assert shelf.messages == []


async def test_message_in_many_frames(raw: Client, shelf: Shelf) -> None:
    """A message crosses both ways in frames no larger than the receiver allows, and arrives whole."""
    await raw.open(max_frame_size=SMALLEST_FRAME)
    await raw.begin()
    await raw.attach_sender("shelf")
    message = bytes(range(256)) * 20
    first = Transfer(handle=UInt(0), delivery_id=UInt(0), delivery_tag=b"t", more=True)
    raw.send(first, message[:2000])
    raw.send(Transfer(handle=UInt(0), more=True), message[2000:4000])
    raw.send(Transfer(handle=UInt(0)), message[4000:])
    await raw.expect(Disposition)
    assert shelf.messages == [message]

    await raw.attach_receiver("shelf")
    raw.grant(1)
    received, more = b"", True
    while more:
        item = await raw.next_item()
        assert isinstance(item, Frame)
        assert len(item.body) + 8 <= SMALLEST_FRAME
        transfer, payload = decode_performative(item.body)
        assert isinstance(transfer, Transfer)
        received, more = received + payload, transfer.more
    assert received == message


async def test_aborted_delivery(client: Client, shelf: Shelf) -> None:
    """A delivery that its sender gives up leaves nothing behind, and the next one is whole."""
    await client.attach_sender("shelf")
    client.send(Transfer(handle=UInt(0), delivery_id=UInt(0), delivery_tag=b"t", more=True), b"half a mess")
    client.send(Transfer(handle=UInt(0), aborted=True))
    client.send_message(b"whole", delivery_id=1)
    await client.expect(Disposition)
    assert shelf.messages == [b"whole"]


async def test_message_too_large(client: Client, shelf: Shelf) -> None:
    """A message above the limit of the link is rejected with its size, and the link goes on, as in Azure."""
    await client.attach_sender("shelf")
    part = bytes(MAX_FRAME_SIZE - 100)
    client.send(Transfer(handle=UInt(0), delivery_id=UInt(0), delivery_tag=b"t", more=True), part)
    for _ in range(3):
        client.send(Transfer(handle=UInt(0), more=True), part)
    client.send(Transfer(handle=UInt(0)), b"the end")
    match decode_state((await client.expect(Disposition)).state):
        case Rejected(ErrorInfo(condition=Condition.MESSAGE_SIZE_EXCEEDED, description=str(text))):
            assert f"size:{4 * len(part) + 7} bytes" in text
        case other:
            pytest.fail(f"not rejected for its size: {other}")
    client.send_message(b"small", delivery_id=1)
    await client.expect(Disposition)
    assert shelf.messages == [b"small"]


async def test_refused_link(client: Client) -> None:
    """A refused attach is answered with an attach that has neither source nor target, and a detach with the reason."""
    client.send_attach("nowhere", handle=0, receives=False)
    attach = await client.expect(Attach)
    assert (attach.source, attach.target) == (None, None)
    detach = await client.expect(Detach)
    error = decode_error(detach.error)
    assert error is not None
    assert error.condition == Condition.NOT_FOUND


async def test_credit(client: Client, shelf: Shelf) -> None:
    """No more messages are sent than the client has granted credit for."""
    shelf.messages = [b"1", b"2", b"3"]
    await client.attach_receiver("shelf")
    client.grant(2)
    assert (await client.expect_frame(Transfer))[1] == b"1"
    assert (await client.expect_frame(Transfer))[1] == b"2"
    client.grant(1, received=2)
    assert (await client.expect_frame(Transfer))[1] == b"3"


async def test_drain(client: Client, shelf: Shelf) -> None:
    """A draining client gets what there is, and then its unused credit back."""
    shelf.messages = [b"1"]
    await client.attach_receiver("shelf")
    client.grant(10, drain=True)
    await client.expect(Transfer)
    flow = await client.expect(Flow)
    assert flow.drain
    assert (flow.delivery_count, flow.link_credit) == (10, 0)


async def test_session_window(client: Client, shelf: Shelf) -> None:
    """Frames wait for the session's window, even when the link has credit."""
    shelf.messages = [b"1", b"2"]
    await client.attach_receiver("shelf")
    client.grant(2, window=1)
    assert (await client.expect_frame(Transfer))[1] == b"1"
    client.send(
        Flow(
            incoming_window=UInt(0),
            next_incoming_id=UInt(1),
            next_outgoing_id=UInt(0),
            outgoing_window=UInt(1),
            echo=True,
        )
    )
    await client.expect(Flow)
    client.send(
        Flow(incoming_window=UInt(1), next_incoming_id=UInt(1), next_outgoing_id=UInt(0), outgoing_window=UInt(1))
    )
    assert (await client.expect_frame(Transfer))[1] == b"2"


@pytest.mark.parametrize("outcome", [Accepted(), Released(), Modified(delivery_failed=True), Rejected()])
async def test_outcomes(client: Client, shelf: Shelf, outcome: Outcome) -> None:
    """The broker is told the client's outcome, and its answer settles the delivery."""
    shelf.messages = [b"1"]
    await client.attach_receiver("shelf")
    client.grant(1)
    transfer = await client.expect(Transfer)
    assert transfer.delivery_id is not None
    client.settle(transfer.delivery_id, outcome)
    answer = await client.expect(Disposition)
    assert answer.settled
    assert decode_state(answer.state) == outcome
    assert shelf.outcomes == [outcome]


async def test_settled_link(client: Client, shelf: Shelf) -> None:
    """A client that asked for settled deliveries gets them settled."""
    shelf.messages = [b"1"]
    await client.attach_receiver("shelf", settled=True)
    client.grant(1)
    assert (await client.expect(Transfer)).settled
