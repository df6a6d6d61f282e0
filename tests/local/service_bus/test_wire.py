"""The broker over bare AMQP: what the SDKs never do, or do not show."""

import uuid
from collections.abc import AsyncIterator

import pytest

from local.amqp import Accepted, Message, Modified, Outcome, Rejected, Released, Section, encode_section
from local.amqp.performatives import Attach, Detach, Disposition, Transfer
from local.amqp.states import ErrorInfo, decode_error, decode_state
from local.amqp.values import Array, Int, Symbol, ULong
from local.service_bus import ServiceBus

from ..amqp.client import Client, connected
from .builders import an_encoded_message
from .conftest import LOCK, QUEUE, TOPOLOGY

SENDER, RECEIVER, REQUESTS, RESPONSES = range(4)  # link handles
DEAD_LETTERS = f"{QUEUE}/$DeadLetterQueue"
UUID_CODE = 0x98


@pytest.fixture
async def bus() -> AsyncIterator[ServiceBus]:
    async with ServiceBus.serving(TOPOLOGY) as bus:
        yield bus


@pytest.fixture
async def client(bus: ServiceBus) -> AsyncIterator[Client]:
    async with connected(bus.amqp_port) as client:
        await client.open()
        await client.begin()
        yield client


async def refusal(client: Client) -> str:
    """The condition with which the broker refuses the link just asked for."""
    assert (await client.expect(Attach)).target is None
    error = decode_error((await client.expect(Detach)).error)
    assert error is not None
    return error.condition


async def deliver(client: Client, encoded: bytes) -> Transfer:
    """Send a message to the queue and receive it from there."""
    await client.attach_sender(QUEUE, handle=SENDER)
    client.send_message(encoded, handle=SENDER)
    await client.expect(Disposition)
    await client.attach_receiver(QUEUE, handle=RECEIVER)
    client.grant(1, handle=RECEIVER)
    return await client.expect(Transfer)


async def settle(client: Client, transfer: Transfer, outcome: Outcome) -> Outcome | object:
    assert transfer.delivery_id is not None
    client.settle(transfer.delivery_id, outcome)
    return decode_state((await client.expect(Disposition)).state)


async def attach_management(client: Client, node: str = f"{QUEUE}/$management") -> None:
    await client.attach_receiver(node, handle=RESPONSES)
    client.grant(100, handle=RESPONSES)
    await client.attach_sender(node, handle=REQUESTS)


async def ask(
    client: Client, operation: str, body: object, **properties: object
) -> tuple[dict[object, object], object]:
    """Execute a request; returns the application properties and the body of the response."""
    request = Message(
        properties=encode_section(Section.PROPERTIES, [uuid.uuid4()]),
        application_properties=encode_section(Section.APPLICATION_PROPERTIES, {"operation": operation} | properties),
        body=encode_section(Section.VALUE, body),
    )
    client.send_message(request.encode(), delivery_id=50, handle=REQUESTS)
    await client.expect(Disposition)
    _, payload = await client.expect_frame(Transfer)
    response = Message.parse(payload)
    assert response.properties_list()[5] == request.properties_list()[0]
    return response.application_properties_map(), response.body_value()


async def test_transactions_are_refused(client: Client) -> None:
    """A coordinator link is not implemented, and says so."""
    client.send_attach("coordinator", handle=SENDER, receives=False, target_code=ULong(0x30))
    assert await refusal(client) == "amqp:not-implemented"


async def test_sessions_are_refused(client: Client) -> None:
    """A session filter, even for any session, is not allowed on a queue without sessions."""
    client.send_attach(QUEUE, handle=RECEIVER, receives=True, filters={Symbol("com.microsoft:session-filter"): None})
    assert await refusal(client) == "amqp:not-allowed"


async def test_nobody_sends_to_a_dead_letter_queue(client: Client) -> None:
    """Only the broker puts messages into a dead-letter queue."""
    client.send_attach(DEAD_LETTERS, handle=SENDER, receives=False)
    assert await refusal(client) == "amqp:not-allowed"


@pytest.mark.parametrize("address", ["nowhere", "nowhere/$management", f"{QUEUE}/Subscriptions/s", ""])
async def test_unknown_entities(client: Client, address: str) -> None:
    """What is not in the topology is not found, its management node neither."""
    client.send_attach(address, handle=RECEIVER, receives=True)
    assert await refusal(client) == "amqp:not-found"


@pytest.mark.parametrize("address", [QUEUE.upper(), f"amqps://localhost:5672/{QUEUE}", f"sb://host/{QUEUE}/"])
async def test_addresses(client: Client, address: str) -> None:
    """Addresses may be URLs and in any case; the answer repeats them as they were written."""
    answer = await client.attach_receiver(address)
    assert answer.source is not None
    assert answer.source.value[0] == address  # type: ignore[index]


async def test_delivery_tag_is_the_lock_token(client: Client) -> None:
    """The tag of a delivery is its lock token in .NET byte order: with it the management node settles the message."""
    transfer = await deliver(client, an_encoded_message())
    assert transfer.delivery_tag is not None
    token = uuid.UUID(bytes_le=transfer.delivery_tag)
    await attach_management(client)
    body = {"disposition-status": "completed", "lock-tokens": Array(UUID_CODE, (token,))}
    status, _ = await ask(client, "com.microsoft:update-disposition", body)
    assert status["statusCode"] == status["status-code"] == 200
    status, _ = await ask(client, "com.microsoft:update-disposition", body)
    assert (status["statusCode"], status["errorCondition"]) == (410, "com.microsoft:message-lock-lost")


@pytest.mark.parametrize("by", ["outcome", "request"])
async def test_abandon_with_properties(client: Client, by: str) -> None:
    """Properties that an abandon sets are the message's application properties from then on, beside its own."""
    own = encode_section(Section.APPLICATION_PROPERTIES, {"kept": Int(7)})
    transfer = await deliver(client, an_encoded_message(application_properties=own))
    if by == "outcome":
        changes = {Symbol("attempted-by"): "test"}
        outcome = Modified(delivery_failed=True, message_annotations=changes)
        assert isinstance(await settle(client, transfer, outcome), Modified)
    else:
        await attach_management(client)
        token = uuid.UUID(bytes_le=transfer.delivery_tag or b"")
        body = {
            "disposition-status": "abandoned",
            "lock-tokens": Array(UUID_CODE, (token,)),
            "properties-to-modify": {"attempted-by": "test"},
        }
        await ask(client, "com.microsoft:update-disposition", body)
    client.grant(1, handle=RECEIVER, received=1)
    _, payload = await client.expect_frame(Transfer)
    message = Message.parse(payload)
    assert message.application_properties_map() == {"kept": Int(7), "attempted-by": "test"}
    assert message.header.delivery_count == 1


async def test_release(client: Client) -> None:
    """A released message comes again, uncounted."""
    transfer = await deliver(client, an_encoded_message())
    assert await settle(client, transfer, Released()) == Released()
    client.grant(1, handle=RECEIVER, received=1)
    _, payload = await client.expect_frame(Transfer)
    assert Message.parse(payload).header.delivery_count == 0


async def test_late_outcomes_are_rejected(bus: ServiceBus, client: Client) -> None:
    """Every outcome that comes after the lock is answered as rejected with the reason."""
    transfer = await deliver(client, an_encoded_message())
    bus.advance(LOCK)
    match await settle(client, transfer, Accepted()):
        case Rejected(ErrorInfo(condition="com.microsoft:message-lock-lost")):
            pass
        case other:
            pytest.fail(f"settled without a lock: {other}")
    assert bus.statistics()[QUEUE]["completed"] == 0


async def test_a_waiting_receiver_gets_what_time_sets_free(bus: ServiceBus, client: Client) -> None:
    """A receiver that only waits is given a message whose lock ends, moments after the clock alone has moved."""
    await deliver(client, an_encoded_message())
    client.grant(1, handle=RECEIVER, received=1)
    await client.round_trip()
    bus.clock.advance(LOCK)
    _, payload = await client.expect_frame(Transfer)
    assert Message.parse(payload).header.delivery_count == 1


async def test_settling_many_is_all_or_nothing(bus: ServiceBus, client: Client) -> None:
    """A disposition request for several locks of which one is lost settles none."""
    transfer = await deliver(client, an_encoded_message())
    tokens = (uuid.UUID(bytes_le=transfer.delivery_tag or b""), uuid.UUID(int=1))
    await attach_management(client)
    body = {"disposition-status": "completed", "lock-tokens": Array(UUID_CODE, tokens)}
    status, _ = await ask(client, "com.microsoft:update-disposition", body)
    assert status["statusCode"] == 410
    assert bus.statistics()[QUEUE]["locked"] == 1


async def test_dead_lettering_a_dead_letter(bus: ServiceBus, client: Client) -> None:
    """A message in a dead-letter queue is not dead-lettered once more; the refusal is an error, and the lock stays."""
    transfer = await deliver(client, an_encoded_message())
    reason = Rejected(ErrorInfo("com.microsoft:dead-letter", info={Symbol("DeadLetterReason"): "r"}))
    assert await settle(client, transfer, reason) == Rejected()
    await client.attach_receiver(DEAD_LETTERS, handle=REQUESTS)
    client.grant(1, handle=REQUESTS, received=1)
    dead, payload = await client.expect_frame(Transfer)
    assert Message.parse(payload).application_properties_map() == {"DeadLetterReason": "r"}
    match await settle(client, dead, reason):
        case Rejected(ErrorInfo()):
            pass
        case other:
            pytest.fail(f"dead-lettered twice: {other}")
    assert bus.statistics()[QUEUE]["dead_letter"] == 1


async def test_message_that_is_none(bus: ServiceBus, client: Client) -> None:
    """Bytes that are no message are rejected as such."""
    await client.attach_sender(QUEUE, handle=SENDER)
    client.send_message(b"not AMQP", handle=SENDER)
    match decode_state((await client.expect(Disposition)).state):
        case Rejected(ErrorInfo(condition="amqp:decode-error")):
            pass
        case other:
            pytest.fail(f"not rejected: {other}")
    assert bus.statistics()[QUEUE]["sent"] == 0


LOCK_LOST, NOT_FOUND = "com.microsoft:message-lock-lost", "com.microsoft:message-not-found"
ARGUMENT, UNSUPPORTED, NOT_AMQP = "com.microsoft:argument-error", "amqp:not-implemented", "amqp:decode-error"


@pytest.mark.parametrize(
    ("operation", "body", "status", "condition"),
    [
        ("peek-message", {"from-sequence-number": 0, "message-count": Int(1)}, 204, NOT_FOUND),
        ("peek-message", {"message-count": Int(1)}, 400, ARGUMENT),
        ("peek-message", "no map", 400, ARGUMENT),
        ("schedule-message", {"messages": [{"message": an_encoded_message()}]}, 400, ARGUMENT),
        ("schedule-message", {"messages": [{"message": b"junk"}]}, 400, NOT_AMQP),
        ("get-session-state", {"session-id": "s"}, 501, UNSUPPORTED),
        ("renew-lock", {"lock-tokens": Array(UUID_CODE, (uuid.UUID(int=1),))}, 410, LOCK_LOST),
        ("update-disposition", {"lock-tokens": []}, 400, ARGUMENT),
    ],
)
async def test_management_errors(client: Client, operation: str, body: object, status: int, condition: str) -> None:
    """What the management node cannot do is answered with a status and a condition, never with success."""
    await attach_management(client)
    answer, _ = await ask(client, f"com.microsoft:{operation}", body)
    assert (answer["statusCode"], answer["errorCondition"]) == (status, condition)


@pytest.mark.parametrize(
    ("operation", "kind", "status"),
    [
        ("put-token", "servicebus.windows.net:sastoken", 202),
        ("put-token", "jwt", 202),
        ("put-token", "amqp:swt", 401),
        ("delete-token", "jwt", 400),
    ],
)
async def test_tokens(client: Client, operation: str, kind: str, status: int) -> None:
    """$cbs takes tokens of the types the service takes, and nothing else."""
    await attach_management(client, "$cbs")
    answer, _ = await ask(client, operation, "token", type=kind, name="sb://localhost/orders")
    assert answer["status-code"] == status
