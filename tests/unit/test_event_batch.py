"""From what the host says of a batch to deliveries: who is who, byte for byte, and nothing paired by chance."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.transports.event_batch import Arrival, MetadataMismatch, arrivals_in
from shared.transports.parking import Position
from tests import examples
from tests.event_batches import FIRST, HUB, PARTITION, Sent, batch, movement


def arrivals(*sent: Sent, keyless: bool = False, attempt: int = 1, first: int = FIRST) -> tuple[Arrival, ...]:
    return arrivals_in(batch(*sent, first=first), hub=HUB, attempt=attempt, keyless=keyless)


def identity(sent: Sent, *, keyless: bool = False) -> tuple[str, str | None]:
    [arrival] = arrivals(sent, keyless=keyless)
    return arrival.delivery.source, arrival.delivery.message_id


def test_a_movement_arrives_whole() -> None:
    """All that the producer and the broker said of it, in the library's words."""
    sent = movement()
    sent.properties = {"tenant": "a", "n": 1}
    sent.system = {"content-type": "application/json", "subject": "moved", "correlation-id": "c-1"}
    [arrival] = arrivals(sent, attempt=3)
    assert arrival.position == Position(hub=HUB, partition=PARTITION, sequence_number=FIRST, part=0)
    delivery = arrival.delivery
    assert (delivery.source, delivery.message_id, delivery.partition_key) == (HUB, "m-1", "sku-1")
    assert (delivery.body, delivery.attempt) == (sent.body, 3)
    assert dict(delivery.properties) == {"tenant": "a", "n": 1}
    assert (delivery.content_type, delivery.subject, delivery.correlation_id) == ("application/json", "moved", "c-1")
    assert delivery.enqueued_at == datetime(2026, 1, 31, 12, 0, 0, 123456, UTC)


@pytest.mark.parametrize("body", [b"\x1f\x8b\x08\x00\xff\xfe", b"", b"null", "é".encode("utf-16")])
def test_bodies_are_bytes_end_to_end(body: bytes) -> None:
    """Compressed, empty, or in whatever encoding: nothing is decoded on the way."""
    [arrival] = arrivals(Sent(body=body, message_id="1"))
    assert arrival.delivery.body == body


def test_a_producers_id_is_unique_within_the_hub() -> None:
    """In whatever partition and at whatever place a copy of it comes."""
    assert identity(movement()) == (HUB, "m-1")
    [copy] = arrivals_in(batch(movement(), first=7, partition="0"), hub=HUB, attempt=1, keyless=False)
    assert (copy.delivery.source, copy.delivery.message_id) == (HUB, "m-1")


@pytest.mark.parametrize("missing", [None, ""])
def test_without_a_producers_id_there_is_none(missing: str | None) -> None:
    """Where keys are demanded nothing stands in for them."""
    assert identity(Sent(message_id=missing)) == (HUB, None)


@pytest.mark.parametrize("missing", [None, ""])
def test_keyless_events_are_their_position(missing: str | None) -> None:
    """Hub, partition and sequence number: the same on every reading, and never anybody else's."""
    assert identity(Sent(message_id=missing), keyless=True) == (f"{HUB}/{PARTITION}", str(FIRST))


@pytest.mark.parametrize("placeholder", ["None", "null", "00000000-0000-0000-0000-000000000000"])
def test_a_placeholder_is_passed_on_for_the_library_to_refuse(placeholder: str) -> None:
    """A producer that means to send ids and does not must be seen, not worked around."""
    assert identity(Sent(message_id=placeholder), keyless=True) == (HUB, placeholder)


def test_the_offset_is_no_identity() -> None:
    """After a fail-over the same event has another offset, even one that is no number."""
    identities = []
    for offset in (1000, -1):
        events = batch(Sent())
        system = events[0].metadata["SystemPropertiesArray"]
        system[0] |= {"Offset": offset, "OffsetString": f"2:{offset}:9"}
        again = batch(Sent(), SystemPropertiesArray=system)
        [arrival] = arrivals_in(again, hub=HUB, attempt=1, keyless=True)
        identities.append((arrival.delivery.source, arrival.delivery.message_id))
    assert identities[0] == identities[1]


@pytest.mark.parametrize("name", ["messageId", "message-id", "MessageId"])
def test_no_application_property_is_an_id(name: str) -> None:
    """No name is agreed upon; a consumer that knows one declares it."""
    assert identity(Sent(properties={name: "x"})) == (HUB, None)


def test_events_of_one_batch_may_differ_in_what_they_have() -> None:
    """Keys and ids of some only: each has its own, whatever the host leaves out of its arrays."""
    sent = [Sent(key="a"), Sent(), Sent(key="c", message_id="3"), Sent(properties={"n": 4})]
    found = [arrival.delivery for arrival in arrivals(*sent)]
    assert [delivery.partition_key for delivery in found] == ["a", None, "c", None]
    assert [delivery.message_id for delivery in found] == [None, None, "3", None]
    assert [dict(delivery.properties) for delivery in found] == [{}, {}, {}, {"n": 4}]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20), st.randoms())
def test_every_event_finds_its_own_whatever_the_order(kinds, random) -> None:
    """Events in another order than the arrays, or fewer of them: paired by sequence number all the same."""
    sent = [
        Sent(
            body=str(n).encode(),
            key=f"k{n}" if with_key else None,
            message_id=f"id{n}" if with_id else None,
            properties={"n": n},
        )
        for n, (with_key, with_id) in enumerate(kinds)
    ]
    events = batch(*sent)
    random.shuffle(events)
    events = events[: random.randint(1, len(events))]
    for event, arrival in zip(events, arrivals_in(events, hub=HUB, attempt=1, keyless=False), strict=True):
        n = int(event.get_body())
        assert arrival.position.sequence_number == FIRST + n
        assert arrival.delivery.properties == {"n": n}
        assert (arrival.delivery.partition_key, arrival.delivery.message_id) == (sent[n].key, sent[n].message_id)


@pytest.mark.parametrize("properties", [[], [{}], [{}, {}, {}], None, {}])
def test_arrays_of_other_lengths_are_not_paired(properties: object) -> None:
    """Whose properties are missing nobody knows: nothing is processed, and so nothing is lost."""
    with pytest.raises(MetadataMismatch, match="length"):
        arrivals_in(batch(movement("1"), movement("2"), PropertiesArray=properties), hub=HUB, attempt=1, keyless=True)


def test_events_that_the_host_does_not_describe_are_not_guessed_at() -> None:
    """A sequence number that is in no array, missing, or there twice."""
    events = batch(movement("1"), movement("2"))
    system = events[0].metadata["SystemPropertiesArray"]
    for broken in ([system[0], system[0]], [system[0], system[1] | {"SequenceNumber": None}]):
        with pytest.raises(MetadataMismatch):
            arrivals_in(
                batch(movement("1"), movement("2"), SystemPropertiesArray=broken), hub=HUB, attempt=1, keyless=True
            )
    other = batch(movement("3"), first=FIRST + 2)
    with pytest.raises(MetadataMismatch, match=str(FIRST + 2)):
        arrivals_in([*events, *other], hub=HUB, attempt=1, keyless=True)


@pytest.mark.parametrize("said", [None, {}, {"PartitionId": None}, {"PartitionId": ""}, "partition 2"])
def test_an_unknown_partition_is_not_guessed_at(said: object) -> None:
    """Positions without a partition would be those of other events."""
    with pytest.raises(MetadataMismatch, match="partition"):
        arrivals_in(batch(movement(), PartitionContext=said), hub=HUB, attempt=1, keyless=True)


def test_an_empty_batch_brings_nothing() -> None:
    """As of a trigger that is invoked after a receive time-out."""
    assert arrivals_in([], hub=HUB, attempt=1, keyless=False) == ()


def test_a_structured_cloud_event_is_its_source_and_id() -> None:
    """Whatever the message id and the position say."""
    text = examples.cloud_event_text(id="e-1", source="/shop")
    [arrival] = arrivals(Sent(body=text.encode(), message_id="m-9", key="k"), keyless=True)
    delivery = arrival.delivery
    assert (delivery.source, delivery.message_id, delivery.body) == ("/shop", "e-1", b'{"n": 1}')
    assert delivery.partition_key == "k"


@pytest.mark.parametrize("prefix", ["cloudEvents:", "cloudEvents_", "Ce-"])
def test_a_binary_cloud_event_is_its_source_and_id(prefix: str) -> None:
    """Attributes are application properties, the body is the data."""
    attributes = {"specversion": "1.0", "id": "e-1", "source": "/shop", "type": "moved"}
    sent = Sent(body=b"\x00", message_id="m-9", properties={prefix + name: value for name, value in attributes.items()})
    assert identity(sent) == ("/shop", "e-1")


def test_the_events_of_an_array_are_told_apart_by_their_part() -> None:
    """They share a position in the stream; each has its own identity, and its own place when it is parked."""
    text = "[" + ", ".join(examples.cloud_event_text(id=f"e-{n}") for n in range(3)) + "]"
    found = arrivals(Sent(body=text.encode()), movement())
    assert [arrival.delivery.message_id for arrival in found] == ["e-0", "e-1", "e-2", "m-1"]
    assert [arrival.position.part for arrival in found] == [0, 1, 2, 0]
    assert [arrival.position.sequence_number - FIRST for arrival in found] == [0, 0, 0, 1]


def test_a_cloud_event_without_an_id_has_none_even_where_keyless_events_are_welcome() -> None:
    """It claims to have one."""
    text = json.dumps({"specversion": "1.0", "type": "t", "source": "/shop", "id": "", "data": 1})
    assert identity(Sent(body=text.encode()), keyless=True)[1] is None
