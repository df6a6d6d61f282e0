"""What an Event Hubs function sees: batches, order, bodies, metadata."""

from hashlib import sha256

import pytest
from azure.eventhub import EventData
from azure.eventhub.amqp import AmqpAnnotatedMessage

from .event_hubs_stage import EventStage, event
from .waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

# maxEventBatchSize in host.json of the sample app.
LARGEST_BATCH = 5
EVERY_BYTE = bytes(range(256))


async def test_events_come_in_order_and_in_batches_no_larger_than_allowed(events: EventStage) -> None:
    """Twelve events that have come while their partition was busy make invocations of at most five."""
    await events.send("plain", event(do="hold"))
    await events.sees("plain", 1)
    await events.send("plain", *(event() for _ in range(12)))
    await events.delivered("plain")
    await events.release()
    _, _, *invocations = await events.sees("plain", 2 + 12)
    assert 1 < max(len(each["numbers"]) for each in invocations) <= LARGEST_BATCH
    held, _, *numbers = events.numbers("plain")
    assert numbers == list(range(held + 1, held + 1 + 12))
    await events.checkpointed("plain", numbers[-1])


async def test_a_partition_waits_for_its_invocation_while_others_go_on(events: EventStage) -> None:
    """One invocation at a time in a partition; other partitions do not wait for it."""
    await events.send("plain", event(do="hold"))
    await events.sees("plain", 1)
    await events.send("plain", event())
    await events.send("plain", event(), partition="1")
    await events.sees("plain", 1, partition="1")
    await events.checkpointed("plain", events.numbers("plain", "1")[-1], partition="1")
    assert (len(events.seen("plain")), events.host.in_flight) == (1, 1)
    await events.release()
    held, released, following = await events.sees("plain", 3)
    assert released["released"]
    assert following["numbers"] == [held["numbers"][0] + 1]


async def test_binary_bodies_arrive_byte_for_byte(events: EventStage) -> None:
    """Bytes that are no text, and no bytes at all, arrive as they were sent."""
    bodies = [EVERY_BYTE, b"", b"\xef\xbb\xbf{}"]
    await events.send("plain", *(event(body) for body in bodies))
    await events.sees("plain", len(bodies))
    assert events.bodies("plain") == bodies


async def test_a_large_event_arrives_whole(events: EventStage) -> None:
    """An event close to the service's limit of one megabyte is nothing special."""
    body = EVERY_BYTE * 4_000
    await events.send("plain", event(body))
    (seen,) = await events.sees("plain", 1)
    assert seen["bodies"] == [sha256(body).hexdigest()]


async def test_metadata_of_a_batch(events: EventStage) -> None:
    """Names and forms are those of the extension."""
    keyed, other = event(b"1", kind="count", weight=1.5), event(b"2")
    keyed.message_id, keyed.correlation_id, keyed.content_type = "m-1", "c-1", "application/json"
    await events.send("texts", keyed, other, key="sku-1")
    seen = (await events.sees("texts", 2))[0]
    metadata, events_in_it = seen["metadata"], len(seen["numbers"])
    partition = {
        "IsCheckpointingAfterInvocation": True,
        "FullyQualifiedNamespace": "localhost",
        "EventHubName": events.names["texts"],
        "ConsumerGroup": "$Default",
        "PartitionId": "0",
    }
    assert metadata["PartitionContext"] == metadata["TriggerPartitionContext"] == partition
    assert metadata["PartitionKeyArray"] == ["sku-1"] * events_in_it == seen["keys"]
    assert metadata["SequenceNumberArray"] == seen["numbers"]
    assert metadata["OffsetArray"] == metadata["OffsetStringArray"]
    assert metadata["PropertiesArray"] == [{"kind": "count", "weight": 1.5}, {}][:events_in_it]
    first = metadata["SystemPropertiesArray"][0]
    assert (first["message-id"], first["correlation-id"], first["content-type"]) == ("m-1", "c-1", "application/json")
    assert "message-id" not in events.seen("texts")[-1]["metadata"]["SystemPropertiesArray"][-1]
    assert first["SequenceNumber"] == first["x-opt-sequence-number"] == seen["numbers"][0]
    assert str(first["Offset"]) == first["OffsetString"] == first["x-opt-offset"] == metadata["OffsetArray"][0]
    assert first["PartitionKey"] == first["x-opt-partition-key"] == "sku-1"
    assert first["EnqueuedTimeUtc"] == metadata["EnqueuedTimeUtcArray"][0]
    assert first["x-opt-enqueued-time"] == first["EnqueuedTimeUtc"] + "+00:00"


async def test_empty_texts_are_left_out_of_arrays(events: EventStage) -> None:
    """A keyless event leaves no entry in the array of keys: positions in it mean nothing."""
    await events.send("texts", event(b"1"))
    (seen,) = await events.sees("texts", 1)
    assert (seen["metadata"]["PartitionKeyArray"], seen["keys"]) == ([], [None])
    assert seen["metadata"]["SystemPropertiesArray"][0]["PartitionKey"] is None


async def test_bodies_that_are_no_text_arrive_mangled_unless_binary(events: EventStage) -> None:
    """Without dataType binary the extension decodes UTF-8, and what is none becomes U+FFFD."""
    await events.send("texts", event(b"\xef\xbb\xbfok \xff"))
    await events.sees("texts", 1)
    assert events.bodies("texts") == ["\N{ZERO WIDTH NO-BREAK SPACE}ok \N{REPLACEMENT CHARACTER}".encode()]


async def test_an_empty_text_is_refused_by_the_worker(events: EventStage, caplog: pytest.LogCaptureFixture) -> None:
    """The host leaves the empty body out, the worker misses it, and without a policy the batch is gone."""
    await events.send("texts", event(b""))
    await eventually(lambda: "Number of bodies and metadata mismatched" in caplog.text)
    await events.send("texts", event(b"3"))
    await events.sees("texts", 1)
    assert events.bodies("texts") == [b"3"]


async def test_an_event_without_a_data_section_costs_its_batch(
    events: EventStage, caplog: pytest.LogCaptureFixture
) -> None:
    """Such a body cannot be bound: the invocation fails before the function sees it."""
    await events.send("plain", AmqpAnnotatedMessage(value_body="text"))
    await eventually(lambda: "has a value body and cannot be bound" in caplog.text)
    await events.send("plain", event(b"next"))
    await events.sees("plain", 1)
    assert events.bodies("plain") == [b"next"]


async def test_cardinality_one_invokes_event_by_event(events: EventStage) -> None:
    """Without cardinality many each event is an invocation of its own, with its own metadata."""
    made = EventData(b"one")
    made.message_id = "m-9"
    await events.send("single", made, event(b"two", kind="count"), key="sku-2")
    one, two = await events.sees("single", 2)
    assert events.bodies("single") == [b"one", b"two"]
    assert (one["keys"], two["metadata"]["Properties"]) == (["sku-2"], {"kind": "count"})
    assert one["metadata"]["SystemProperties"]["message-id"] == "m-9"
    assert one["metadata"]["PartitionContext"]["PartitionId"] == "0"
    assert one["metadata"]["SequenceNumber"] == one["numbers"][0] == two["numbers"][0] - 1
    assert one["metadata"]["Offset"] == one["metadata"]["OffsetString"] == one["offsets"][0]


async def test_a_cut_connection_neither_loses_nor_repeats_events(events: EventStage) -> None:
    """What the SDK had in its buffer when the connection was cut is read again, and yet comes once."""
    await events.send("plain", event(do="hold"))
    await events.sees("plain", 1)
    await events.send("plain", *(event() for _ in range(3)))
    await events.delivered("plain")
    await events.hubs.drop_connections()
    await events.delivered("plain", more=3)
    await events.release()
    await events.sees("plain", 2 + 3)
    await events.send("plain", event())
    await events.sees("plain", 2 + 3 + 1)
    held, _, *numbers = events.numbers("plain")  # the held one stands there twice: it wrote down its release too
    assert numbers == list(range(held + 1, held + 1 + 4))
