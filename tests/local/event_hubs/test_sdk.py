"""The unmodified azure-eventhub SDK (asyncio) against the broker."""

import asyncio
import itertools
import uuid
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from azure.eventhub import EventData
from azure.eventhub.exceptions import ConnectError, EventDataSendError

from local.event_hubs.hashing import partition_of

from .conftest import PATIENCE, Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_single_event(bench: Bench) -> None:
    """An event arrives as it was sent, types of its properties included, with what the broker says about it."""
    sent = EventData(b"\x00body")
    sent.properties = {"i": 1, "f": 1.5, "s": "x", "u": uuid.uuid4(), "b": True}
    sent.message_id, sent.content_type, sent.correlation_id = "m-1", "x/y", "c"
    async with bench.producer() as producer:
        await producer.send_event(sent, partition_id="2")
    [event] = await bench.received(1, partition_id="2")
    assert b"".join(event.body) == b"\x00body"
    assert (event.message_id, event.content_type, event.correlation_id) == ("m-1", "x/y", "c")
    assert event.properties == {name.encode(): value for name, value in sent.properties.items()} | {b"s": b"x"}
    assert event.sequence_number == 0
    assert int(event.offset) > 0
    assert event.partition_key is None
    assert abs(event.enqueued_time - bench.hubs.clock.now()) < timedelta(minutes=1)


async def test_keys_keep_their_partition_and_order(bench: Bench) -> None:
    """Batches of several keys: each key's events are in the partition of its hash, in the order they were sent."""
    keys = [f"sku-{number}" for number in range(6)]
    async with bench.producer() as producer:
        for batch_number in range(2):
            for key in keys:
                batch = await producer.create_batch(partition_key=key)
                for number in range(3):
                    batch.add(EventData(f"{key}/{batch_number}/{number}"))
                await producer.send_batch(batch)
    async with bench.receiving() as received:
        await received.until(36)
    for key in keys:
        mine = [(name, event) for name, event in received.events if event.partition_key == key.encode()]
        assert {name for name, _ in mine} == {str(partition_of(key, 4))}
        assert [event.body_as_str() for _, event in mine] == [f"{key}/{b}/{n}" for b in range(2) for n in range(3)]


async def test_to_a_partition_and_in_turns(bench: Bench) -> None:
    """A batch for a partition is there; batches for none take turns."""
    async with bench.producer() as producer:
        await producer.send_batch([EventData("a"), EventData("b")], partition_id="3")
        for number in range(4):
            await producer.send_batch([EventData(str(number))])
    async with bench.receiving() as received:
        await received.until(6)
    assert received.bodies("3") == ["a", "b", "3"]
    assert [received.bodies(name) for name in "012"] == [["0"], ["1"], ["2"]]


async def test_properties(bench: Bench) -> None:
    """The hub and its partitions can be asked for."""
    await bench.put("1", "2")
    async with bench.producer() as producer:
        about = await producer.get_eventhub_properties()
        used, empty = [await producer.get_partition_properties(name) for name in "01"]
    assert (about["eventhub_name"], about["partition_ids"]) == (bench.name, ["0", "1", "2", "3"])
    assert (used["beginning_sequence_number"], used["last_enqueued_sequence_number"], used["is_empty"]) == (0, 1, False)
    assert (empty["last_enqueued_sequence_number"], empty["last_enqueued_offset"]) == (-1, "-1")
    assert empty["is_empty"]


async def test_starting_positions(bench: Bench) -> None:
    """From a sequence number, an offset and a time on; with the event named, or after it."""
    await bench.put("0")
    bench.hubs.advance(1)
    await bench.put("1", "2")
    _, middle, _ = await bench.received(3, partition_id="0")
    beginnings = [
        (middle.sequence_number, False, ["2"]),
        (middle.sequence_number, True, ["1", "2"]),
        (middle.offset, False, ["2"]),
        (middle.offset, True, ["1", "2"]),
        (middle.enqueued_time, True, ["1", "2"]),
    ]
    for events, (*_, expected) in zip(
        await asyncio.gather(
            *(
                bench.received(
                    len(bodies), partition_id="0", starting_position=position, starting_position_inclusive=inclusive
                )
                for position, inclusive, bodies in beginnings
            )
        ),
        beginnings,
        strict=True,
    ):
        assert [event.body_as_str() for event in events] == expected


async def test_latest(bench: Bench) -> None:
    """A receiver of the latest gets what is sent after it has come, and nothing from before."""
    await bench.put("before")
    async with bench.receiving(partition_id="0", starting_position="@latest") as received:
        async with asyncio.timeout(PATIENCE):
            for number in itertools.count():
                await bench.put(str(number))
                if received.events:
                    break
    numbers = [int(body) for body in received.bodies()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_two_consumer_groups(bench: Bench) -> None:
    """Each consumer group is given every event, and the counters tell repeats from first deliveries."""
    await bench.put("1", "2")
    groups = ("$Default", "audit", "audit")
    for events in await asyncio.gather(*(bench.received(2, group, partition_id="0") for group in groups)):
        assert [event.body_as_str() for event in events] == ["1", "2"]
    assert bench.statistics()["partitions"][0] == {
        "id": "0",
        "events": 2,
        "last_sequence_number": 1,
        "delivered": 6,
        "first_delivered": 4,
    }


async def test_a_higher_owner_level_steals(bench: Bench) -> None:
    """The owner before is told that it was disconnected, and the new one reads."""
    await bench.put("1")
    async with bench.receiving(partition_id="0", owner_level=1) as first, AsyncExitStack() as exits:
        await first.until(1)
        second = await exits.enter_async_context(bench.receiving(partition_id="0", owner_level=2))
        assert "New receiver 'nil' with higher epoch of '2' is created" in str(await first.failed())
        await bench.put("2")
        await second.until(2)
    assert (first.bodies(), second.bodies()) == (["1"], ["1", "2"])


async def test_an_owner_keeps_others_out(bench: Bench) -> None:
    """Neither a lower level nor none gets in beside an owner."""
    await bench.put("1")
    async with bench.receiving(partition_id="0", owner_level=2) as owner:
        await owner.until(1)
        async with (
            bench.receiving(partition_id="0", owner_level=1) as lower,
            bench.receiving(partition_id="0") as without,
        ):
            assert "higher epoch '2' already exists" in str(await lower.failed())
            assert "non-epoch receiver is not allowed" in str(await without.failed())
        await bench.put("2")
        await owner.until(2)


async def test_reconnecting(bench: Bench) -> None:
    """After a broken connection sender and receiver go on where they were."""
    async with bench.producer() as producer, bench.receiving(partition_id="0", owner_level=1) as received:
        for number in range(3):
            await producer.send_batch([EventData(str(number))], partition_id="0")
            await received.until(number + 1)
            assert bench.hubs.drop_connections() >= 2
    assert received.bodies() == ["0", "1", "2"]


async def test_large_event(bench: Bench) -> None:
    """An event of many frames arrives whole; one above the limit is not sent, and its sender goes on working."""
    body = bytes(range(256)) * 4000
    async with bench.producer() as producer:
        assert (await producer.create_batch()).max_size_in_bytes == 1_048_576
        with pytest.raises((EventDataSendError, ValueError)):
            await producer.send_event(EventData(bytes(1_048_577)), partition_id="0")
        await producer.send_event(EventData(body), partition_id="0")
    [event] = await bench.received(1, partition_id="0")
    assert b"".join(event.body) == body


async def test_last_enqueued_event(bench: Bench) -> None:
    """A receiver that tracks it learns with an event how far the partition reaches."""
    await bench.put("1", "2", "3")
    first, *_, last = await bench.received(3, partition_id="0", track_last_enqueued_event_properties=True)
    annotations = first.raw_amqp_message.delivery_annotations
    assert annotations[b"last_enqueued_sequence_number"] == 2
    assert annotations[b"last_enqueued_offset"] == last.offset.encode()


async def test_unknown_hub(bench: Bench) -> None:
    """A hub that is not in the topology is not found."""
    async with bench.producer("nowhere") as producer:
        with pytest.raises(ConnectError, match="'nowhere' could not be found"):
            await producer.get_eventhub_properties()
