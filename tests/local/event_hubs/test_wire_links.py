"""Who is let in over bare AMQP, who is refused, and who must go for another."""

import asyncio

import pytest

from local.amqp.performatives import Attach, Detach
from local.amqp.values import Symbol, UInt, ULong
from local.event_hubs import EventHubs
from local.event_hubs.ownership import MOST_RECEIVERS

from ..amqp.client import DEADLINE, Client, connected
from .links import (
    ARGUMENT,
    HUB,
    NOT_FOUND,
    OTHER_RECEIVER,
    OUT_OF_RANGE,
    PARTITION,
    RECEIVER,
    REQUESTS,
    RESPONSES,
    SENDER,
    STOLEN,
    UNSUPPORTED,
    ask_to_receive,
    next_body,
    reason,
    receive,
    refusal,
    send,
)


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
