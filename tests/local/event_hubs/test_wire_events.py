"""Events over bare AMQP: what the SDK never sends, or does not show of what it receives."""

from datetime import timedelta

import pytest

from local.amqp import BATCH_MESSAGE_FORMAT, Rejected, Section
from local.amqp.message import sections
from local.amqp.performatives import Disposition, Transfer
from local.amqp.states import ErrorInfo, decode_state
from local.amqp.values import UInt
from local.event_hubs import EventHubs
from local.event_hubs.encoding import MAX_PUBLICATION_SIZE

from ..amqp.client import Client
from .builders import RETENTION, an_encoded_batch, an_encoded_event
from .links import HUB, OTHER_RECEIVER, PARTITION, RECEIVER, REQUESTS, SENDER, next_body, receive, send

FRAME_PAYLOAD = 60_000  # bytes; fits into a frame of the broker's


def send_in_frames(client: Client, encoded: bytes, *, delivery_id: int = 0, message_format: int = 0) -> None:
    """Send what does not fit into one frame."""
    for start in range(0, len(encoded), FRAME_PAYLOAD):
        transfer = Transfer(
            handle=UInt(SENDER),
            delivery_id=UInt(delivery_id),
            delivery_tag=b"large",
            message_format=UInt(message_format),
            more=start + FRAME_PAYLOAD < len(encoded),
        )
        client.send(transfer, encoded[start : start + FRAME_PAYLOAD])


async def test_credit(client: Client) -> None:
    """A receiver is given what it has credit for, in order, and the rest when it grants more."""
    await receive(client)
    await send(client, b"1", b"2", b"3")
    client.grant(2)
    assert [await next_body(client) for _ in range(2)] == [b"1", b"2"]
    await client.round_trip()
    client.grant(1, received=2)
    assert await next_body(client) == b"3"


async def test_events_come_settled(client: Client) -> None:
    """There is nothing to settle in a log: every delivery is final."""
    await receive(client)
    client.grant(1)
    await send(client, b"1")
    assert (await client.expect(Transfer)).settled is True


async def test_a_waiting_receiver(client: Client) -> None:
    """A receiver with credit is given an event as it comes, after its sender has its answer."""
    await receive(client)
    client.grant(5)
    await client.attach_sender(f"{HUB}/Partitions/0", handle=SENDER)
    client.send_message(an_encoded_event(b"new"), handle=SENDER)
    await client.expect(Disposition)
    assert await next_body(client) == b"new"


async def test_groups_are_independent(client: Client) -> None:
    """Each consumer group reads for itself, and owns for itself."""
    await receive(client, epoch=1)
    await receive(client, handle=OTHER_RECEIVER, address=PARTITION.replace("$Default", "audit"), epoch=0)
    await send(client, b"1")
    for handle, received in ((RECEIVER, 0), (OTHER_RECEIVER, 0)):
        client.grant(1, handle=handle, received=received)
        assert await next_body(client) == b"1"


async def test_retention(hubs: EventHubs, client: Client) -> None:
    """What is older than the hub's retention cannot be read any more."""
    await send(client, b"old")
    hubs.advance(timedelta(seconds=RETENTION).total_seconds())
    await send(client, b"new", handle=REQUESTS)
    await receive(client)
    client.grant(2)
    assert await next_body(client) == b"new"
    await client.round_trip()


@pytest.mark.parametrize("wanted", [True, False])
async def test_runtime_metric(client: Client, wanted: bool) -> None:
    """How far the partition reaches is told to the receiver that asks for it, and to no other."""
    await send(client, b"1", b"2")
    await receive(client, metric=wanted)
    client.grant(1)
    _, payload = await client.expect_frame(Transfer)
    assert (Section.DELIVERY_ANNOTATIONS in [code for code, *_ in sections(payload)]) is wanted


@pytest.mark.parametrize("batch", [True, False])
async def test_too_large(hubs: EventHubs, client: Client, batch: bool) -> None:
    """An event or a batch above 1 MB is rejected by its name, and one of just that size is taken."""
    answer = await client.attach_sender(HUB, handle=SENDER)
    assert answer.max_message_size == MAX_PUBLICATION_SIZE == 1_048_576
    fitting = an_encoded_event(bytes(MAX_PUBLICATION_SIZE - 8))
    assert len(fitting) == MAX_PUBLICATION_SIZE
    too_large = an_encoded_batch(fitting) if batch else an_encoded_event(bytes(MAX_PUBLICATION_SIZE - 7))
    send_in_frames(client, too_large, message_format=BATCH_MESSAGE_FORMAT if batch else 0)
    match decode_state((await client.expect(Disposition)).state):
        case Rejected(ErrorInfo(condition="amqp:link:message-size-exceeded")):
            pass
        case other:
            pytest.fail(f"not rejected: {other}")
    assert hubs.statistics()[HUB]["sent"] == 0
    send_in_frames(client, fitting, delivery_id=1)
    await client.expect(Disposition)
    assert hubs.statistics()[HUB]["sent"] == 1


async def test_a_batch_is_taken_whole_or_not(hubs: EventHubs, client: Client) -> None:
    """One event that is none, and no event of the batch is taken."""
    await client.attach_sender(HUB, handle=SENDER)
    batch = an_encoded_batch(an_encoded_event(b"1"), b"not AMQP")
    client.send_message(batch, handle=SENDER, message_format=BATCH_MESSAGE_FORMAT)
    assert isinstance(decode_state((await client.expect(Disposition)).state), Rejected)
    assert hubs.statistics()[HUB]["sent"] == 0
