"""The broker over bare AMQP: what the SDK never does, or does not show."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from local.amqp import BATCH_MESSAGE_FORMAT, Message, Rejected, Section, encode_section
from local.amqp.message import sections
from local.amqp.performatives import Attach, Detach, Disposition, Transfer
from local.amqp.states import ErrorInfo, decode_error, decode_state
from local.amqp.values import Described, Symbol, UByte, UInt, ULong, symbols
from local.event_hubs import EventHubs
from local.event_hubs.encoding import MAX_PUBLICATION_SIZE
from local.event_hubs.ownership import MOST_RECEIVERS

from ..amqp.client import DEADLINE, SOURCE_CODE, TARGET_CODE, Client, connected
from .builders import RETENTION, an_encoded_batch, an_encoded_event

HUB = "stock"
PARTITION = f"{HUB}/ConsumerGroups/$Default/Partitions/0"
TOPOLOGY = {
    "eventHubs": {HUB: {"partitionCount": 2, "messageRetention": f"PT{RETENTION}S", "consumerGroups": ["audit"]}}
}
FRAME_PAYLOAD = 60_000  # bytes; fits into a frame of the broker's
SENDER, RECEIVER, OTHER_RECEIVER, REQUESTS, RESPONSES = range(5)  # link handles
NOT_FOUND, ARGUMENT, OUT_OF_RANGE = (
    "amqp:not-found",
    "com.microsoft:argument-error",
    "com.microsoft:argument-out-of-range",
)
STOLEN, UNSUPPORTED, NOT_ALLOWED = "amqp:link:stolen", "amqp:not-implemented", "amqp:not-allowed"


@pytest.fixture
async def hubs() -> AsyncIterator[EventHubs]:
    async with EventHubs.serving(TOPOLOGY) as hubs:
        yield hubs


@pytest.fixture
async def client(hubs: EventHubs) -> AsyncIterator[Client]:
    async with connected(hubs.amqp_port) as client:
        await client.open()
        await client.begin()
        yield client


def ask_to_receive(
    client: Client,
    address: str = PARTITION,
    *,
    handle: int = RECEIVER,
    selector: object = None,
    epoch: object = None,
    name: str | None = None,
    metric: bool = False,
) -> None:
    """Send the attach of a receiver as the SDK would."""
    described = Described(Symbol("apache.org:selector-filter:string"), selector)
    filters = None if selector is None else {Symbol("apache.org:selector-filter:string"): described}
    properties = {Symbol("com.microsoft:epoch"): epoch, Symbol("com.microsoft:receiver-name"): name}
    client.send(
        Attach(
            name=f"receiver-{handle}",
            handle=UInt(handle),
            role=True,
            snd_settle_mode=UByte(2),
            source=Described(SOURCE_CODE, [address, None, None, None, None, None, None, filters]),
            target=Described(TARGET_CODE, ["test"]),
            desired_capabilities=symbols(["com.microsoft:enable-receiver-runtime-metric"]) if metric else None,
            properties={key: value for key, value in properties.items() if value is not None},
        )
    )


async def receive(client: Client, **wishes: object) -> None:
    """Attach a receiver, which must be let in."""
    ask_to_receive(client, **wishes)  # type: ignore[arg-type]
    assert (await client.expect(Attach)).source is not None


async def refusal(client: Client) -> str:
    """The condition with which the broker refuses the link just asked for."""
    answer = await client.expect(Attach)
    assert (answer.source, answer.target) == (None, None)
    return await reason(client)


async def reason(client: Client) -> str:
    """The condition with which the broker ends a link."""
    error = decode_error((await client.expect(Detach)).error)
    assert error is not None
    return error.condition


async def send(client: Client, *bodies: bytes, address: str = f"{HUB}/Partitions/0", handle: int = SENDER) -> None:
    """Send events, each of which must be accepted."""
    await client.attach_sender(address, handle=handle)
    for number, body in enumerate(bodies):
        client.send_message(an_encoded_event(body), delivery_id=number, handle=handle)
        assert not isinstance(decode_state((await client.expect(Disposition)).state), Rejected)


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


async def next_body(client: Client) -> bytes:
    _, payload = await client.expect_frame(Transfer)
    return body_of(payload)


def body_of(payload: bytes) -> bytes:
    (content,) = [payload[start:end] for code, start, _, end in sections(payload) if code == Section.DATA]
    return content[5:]  # descriptor, format code and length of a short data section


@pytest.mark.parametrize(
    ("address", "condition"),
    [
        ("nowhere/ConsumerGroups/$Default/Partitions/0", NOT_FOUND),
        (f"{HUB}/ConsumerGroups/other/Partitions/0", NOT_FOUND),
        (f"{HUB}/ConsumerGroups/$Default/Partitions/2", OUT_OF_RANGE),
        (f"{HUB}/ConsumerGroups/$Default/Partitions/-1", OUT_OF_RANGE),
        (f"{HUB}/ConsumerGroups/$Default/Partitions/x", OUT_OF_RANGE),
        (f"{HUB}/Partitions/0", NOT_FOUND),
        (HUB, NOT_FOUND),
        ("", NOT_FOUND),
    ],
)
async def test_nothing_to_receive_from(client: Client, address: str, condition: str) -> None:
    """A receiver needs a hub, a group and a partition that there are."""
    ask_to_receive(client, address)
    assert await refusal(client) == condition


@pytest.mark.parametrize(
    ("address", "condition"),
    [
        ("nowhere", NOT_FOUND),
        (f"{HUB}/Partitions/2", OUT_OF_RANGE),
        (PARTITION, NOT_FOUND),
        (f"{HUB}/Publishers/device", UNSUPPORTED),
    ],
)
async def test_nothing_to_send_to(client: Client, address: str, condition: str) -> None:
    """A sender needs a hub, and the partition if it names one."""
    client.send_attach(address, handle=SENDER, receives=False)
    assert await refusal(client) == condition


async def test_transactions_are_refused(client: Client) -> None:
    """A coordinator link is not implemented, and says so."""
    client.send_attach("coordinator", handle=SENDER, receives=False, target_code=ULong(0x30))
    assert await refusal(client) == UNSUPPORTED


@pytest.mark.parametrize("address", [PARTITION.upper(), f"amqps://localhost:5674/{PARTITION}"])
async def test_addresses(client: Client, address: str) -> None:
    """Addresses may be URLs and in any case."""
    await receive(client, address=address)


@pytest.mark.parametrize(
    ("wishes", "condition"),
    [
        ({"selector": "amqp.annotation.x-opt-offset < '1'"}, ARGUMENT),
        ({"selector": "amqp.annotation.x-opt-sequence-number > '1'"}, ARGUMENT),
        ({"selector": 7}, ARGUMENT),
        ({"epoch": -1}, OUT_OF_RANGE),
        ({"epoch": "1"}, OUT_OF_RANGE),
    ],
)
async def test_bad_wishes(client: Client, wishes: dict[str, object], condition: str) -> None:
    """A receiver that asks for what cannot be is refused, and steals nothing on the way."""
    await receive(client, handle=OTHER_RECEIVER, epoch=None if "epoch" in wishes else 0)
    ask_to_receive(client, **({"epoch": 1} | wishes))  # type: ignore[arg-type]
    assert await refusal(client) == condition
    client.grant(1, handle=OTHER_RECEIVER)
    await send(client, b"still here")
    assert await next_body(client) == b"still here"


async def test_unknown_filter(client: Client) -> None:
    """A filter that the broker does not have is not left out silently."""
    client.send_attach(PARTITION, handle=RECEIVER, receives=True, filters={Symbol("com.example:filter"): "x"})
    assert await refusal(client) == UNSUPPORTED


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


async def test_stealing(client: Client) -> None:
    """A higher epoch ends the link of the receiver before, with a reason; a lower one is refused."""
    await receive(client, epoch=1)
    ask_to_receive(client, handle=OTHER_RECEIVER, epoch=2)
    assert await reason(client) == STOLEN
    assert (await client.expect(Attach)).handle == OTHER_RECEIVER
    ask_to_receive(client, handle=REQUESTS, epoch=1)
    assert await refusal(client) == STOLEN
    ask_to_receive(client, handle=RESPONSES)
    assert await refusal(client) == STOLEN


async def test_a_stolen_receiver_gets_nothing_new(client: Client) -> None:
    """Credit that a receiver had is worth nothing once its link was ended."""
    await receive(client, epoch=1)
    client.grant(5)
    ask_to_receive(client, handle=OTHER_RECEIVER, epoch=2)
    assert await reason(client) == STOLEN
    await client.expect(Attach)
    await send(client, b"new")
    await client.round_trip()


async def test_a_stolen_receiver_gets_nothing_late(hubs: EventHubs, client: Client) -> None:
    """What waits for the window of a receiver is not sent after its link was ended."""
    await send(client, b"1", b"2")
    async with connected(hubs.amqp_port) as slow:
        await slow.open()
        await slow.begin()
        await receive(slow, epoch=1)
        slow.grant(2, window=1)
        assert await next_body(slow) == b"1"
        await receive(client, epoch=2)
        assert await reason(slow) == STOLEN
        slow.grant(2, window=100, received=1)
        await slow.round_trip()


async def test_an_owner_that_left(hubs: EventHubs, client: Client) -> None:
    """When a connection breaks, its receivers' claims end with it."""
    async with connected(hubs.amqp_port) as other:
        await other.open()
        await other.begin()
        await receive(other, epoch=7)
    async with asyncio.timeout(DEADLINE):  # the broker hears of the end in its own time
        while True:
            ask_to_receive(client, epoch=1)
            answer = await client.expect(Attach)
            if answer.source is not None:
                break
            assert await reason(client) == STOLEN
            client.send(Detach(handle=UInt(RECEIVER), closed=True))


async def test_five_receivers(client: Client) -> None:
    """The sixth receiver without epoch is refused; those before it go on."""
    for number in range(MOST_RECEIVERS):
        await receive(client, handle=10 + number, name=f"r{number}")
    ask_to_receive(client, handle=RECEIVER)
    assert await refusal(client) == "amqp:resource-limit-exceeded"
    await send(client, b"for all")
    for number in range(MOST_RECEIVERS):
        client.grant(1, handle=10 + number)
        assert await next_body(client) == b"for all"


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


async def ask(client: Client, **properties: object) -> tuple[dict[object, object], object]:
    """Ask the management node; returns the application properties and the body of the response."""
    await client.attach_receiver("$management", handle=RESPONSES)
    client.grant(1, handle=RESPONSES)
    await client.attach_sender("$management", handle=REQUESTS)
    request = Message(
        properties=encode_section(Section.PROPERTIES, [uuid.uuid4()]),
        application_properties=encode_section(Section.APPLICATION_PROPERTIES, properties),
    )
    client.send_message(request.encode(), handle=REQUESTS)
    await client.expect(Disposition)
    _, payload = await client.expect_frame(Transfer)
    response = Message.parse(payload)
    return response.application_properties_map(), response.body_value()


HUB_TYPE, PARTITION_TYPE = "com.microsoft:eventhub", "com.microsoft:partition"


@pytest.mark.parametrize(
    ("question", "status", "condition"),
    [
        ({"operation": "READ", "type": HUB_TYPE, "name": "nowhere"}, 404, NOT_FOUND),
        ({"operation": "READ", "type": HUB_TYPE}, 400, ARGUMENT),
        ({"operation": "READ", "type": PARTITION_TYPE, "name": HUB, "partition": "2"}, 400, OUT_OF_RANGE),
        ({"operation": "READ", "type": PARTITION_TYPE, "name": HUB}, 400, ARGUMENT),
        ({"operation": "READ", "type": "com.microsoft:consumergroup", "name": HUB}, 501, UNSUPPORTED),
        ({"operation": "DELETE", "type": HUB_TYPE, "name": HUB}, 501, UNSUPPORTED),
    ],
)
async def test_management_errors(client: Client, question: dict[str, object], status: int, condition: str) -> None:
    """What the management node cannot tell is answered with a status and a condition."""
    answer, body = await ask(client, **question)
    assert (answer["statusCode"], answer["errorCondition"], body) == (status, condition, None)


async def test_management(hubs: EventHubs, client: Client) -> None:
    """The hub and its partitions as the protocol guide describes them."""
    await send(client, b"1", b"2")
    answer, body = await ask(client, operation="READ", type=PARTITION_TYPE, name=HUB.upper(), partition="0")
    assert answer["status-code"] == 200
    assert isinstance(body, dict)
    assert (body["begin_sequence_number"], body["last_enqueued_sequence_number"]) == (0, 1)
    assert body["is_partition_empty"] is False
    assert int(body["last_enqueued_offset"]) > 1
    assert abs(body["last_enqueued_time_utc"] - hubs.clock.now_ms()) < RETENTION * 1000
