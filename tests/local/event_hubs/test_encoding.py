"""What the broker takes from a sender, and what a receiver gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.amqp import BATCH_MESSAGE_FORMAT, AmqpError, Header, Message, Section, encode_section
from local.amqp.message import sections
from local.amqp.values import Symbol, Timestamp
from local.event_hubs.encoding import PARTITION_KEY, read_transfer, write_event
from local.event_hubs.partition import Event, PartitionState

from .builders import NOON_MS, an_encoded_batch, an_encoded_event

EVENT = Event(Message(), None, 7, 4294967396, NOON_MS)


def keyed(key: object) -> dict[Symbol, object]:
    return {PARTITION_KEY: key}


def test_single_event() -> None:
    """An event carries its key itself; its size is what it takes on the wire."""
    encoded = an_encoded_event(b"body", annotations=keyed("sku-1"))
    publication = read_transfer(encoded, 0)
    assert (len(publication.contents), publication.sizes) == (1, [len(encoded)])
    assert publication.partition_key == "sku-1"
    assert read_transfer(an_encoded_event(), 0).partition_key is None


@pytest.mark.parametrize("on_entries", [True, False])
def test_batch(on_entries: bool) -> None:
    """Every data section of a batch is an event of its own; the envelope's key is the key of all."""
    entry = an_encoded_event(b"x", annotations=keyed("k") if on_entries else {})
    publication = read_transfer(an_encoded_batch(entry, entry, annotations=keyed("k")), BATCH_MESSAGE_FORMAT)
    assert len(publication.contents) == 2
    assert publication.partition_key == "k"


@pytest.mark.parametrize(
    "encoded",
    [
        an_encoded_batch(),
        an_encoded_batch(an_encoded_event(annotations=keyed("a")), an_encoded_event(annotations=keyed("b"))),
        an_encoded_batch(an_encoded_event(annotations=keyed("a")), annotations=keyed("b")),
        an_encoded_batch(an_encoded_event(), annotations=keyed(7)),
        an_encoded_batch(an_encoded_event(), annotations=keyed({"a": "map"})),
        an_encoded_batch(an_encoded_event(), annotations=keyed("x" * 129)),
        an_encoded_batch(b"not AMQP"),
    ],
    ids=["empty", "two keys", "another key", "a number", "a map", "too long", "no message"],
)
def test_refused(encoded: bytes) -> None:
    """A batch that is not one for one partition is refused as a whole."""
    with pytest.raises(AmqpError):
        read_transfer(encoded, BATCH_MESSAGE_FORMAT)


def test_what_a_receiver_is_told() -> None:
    """The place, the time and the key stand in annotations; an offset is a string."""
    annotations = Message.parse(write_event(EVENT, None)).annotations
    assert annotations == {
        "x-opt-sequence-number": 7,
        "x-opt-offset": "4294967396",
        "x-opt-enqueued-time": Timestamp(NOON_MS),
    }
    assert type(annotations["x-opt-offset"]) is str
    with_key = Event(Message(), "sku-1", 7, 4294967396, NOON_MS)
    assert Message.parse(write_event(with_key, None)).annotations["x-opt-partition-key"] == "sku-1"


def test_a_sender_does_not_place_events() -> None:
    """Places and times that a sender claims are not believed; its other annotations stay."""
    claims = {Symbol("x-opt-offset"): "1", Symbol("x-opt-sequence-number"): 1, Symbol("x-opt-mine"): "kept"}
    event = Event(Message(annotations=claims), None, 7, 500, NOON_MS)
    annotations = Message.parse(write_event(event, None)).annotations
    assert (annotations["x-opt-offset"], annotations["x-opt-sequence-number"]) == ("500", 7)
    assert annotations["x-opt-mine"] == "kept"


@given(body=st.binary(max_size=200), properties=st.dictionaries(st.text(), st.integers(-(2**63), 2**63 - 1)))
def test_the_bare_event_is_not_touched(body: bytes, properties: dict[str, int]) -> None:
    """Properties and body leave the broker as the bytes they came in."""
    section = encode_section(Section.APPLICATION_PROPERTIES, properties)
    [content] = read_transfer(an_encoded_event(body, application_properties=section), 0).contents
    received = Message.parse(write_event(Event(content, None, 0, 0, NOON_MS), None))
    assert (received.application_properties, received.body) == (section, encode_section(Section.DATA, body))


def test_runtime_metric() -> None:
    """How far the partition reaches travels in delivery annotations, between header and message annotations."""
    event = Event(Message(header=Header(durable=True)), None, 7, 500, NOON_MS)
    encoded = write_event(event, (PartitionState(0, 9, 700, NOON_MS + 1, is_empty=False), NOON_MS + 2))
    assert [code for code, *_ in sections(encoded)] == [
        Section.HEADER,
        Section.DELIVERY_ANNOTATIONS,
        Section.MESSAGE_ANNOTATIONS,
    ]
    assert b"last_enqueued_sequence_number" in encoded
    assert b"runtime_info_retrieval_time_utc" in encoded
