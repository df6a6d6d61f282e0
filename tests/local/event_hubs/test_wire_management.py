"""The management node over bare AMQP: answers as they are on the wire, and questions the SDK never asks."""

import uuid

import pytest

from local.amqp import Message, Section, encode_section
from local.amqp.performatives import Disposition, Transfer
from local.event_hubs import EventHubs

from ..amqp.client import Client
from .builders import RETENTION
from .links import ARGUMENT, HUB, NOT_FOUND, OUT_OF_RANGE, REQUESTS, RESPONSES, UNSUPPORTED, send

HUB_TYPE, PARTITION_TYPE = "com.microsoft:eventhub", "com.microsoft:partition"


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
