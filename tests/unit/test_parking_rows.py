"""A parked event as a row: always within the limits of a table, the same every time, and never another's."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.idempotency import Delivery, Reason
from shared.parking.rows import MAX_BODY_BYTES, MAX_MESSAGE_CHARACTERS, row_of
from shared.transports.parking import ParkedEvent, Position
from tests import parked

FORBIDDEN = set("/\\#?%") | {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}


any_text = st.text(st.characters(codec=None), max_size=40)
positions = st.builds(
    Position,
    hub=any_text,
    partition=any_text,
    sequence_number=st.integers(0, 2**63 - 1),
    part=st.integers(0, 20_000),
)
deliveries = st.builds(
    Delivery,
    source=any_text,
    message_id=st.none() | any_text,
    body=st.binary(max_size=40),
    partition_key=st.none() | any_text,
    subject=st.none() | any_text,
    properties=st.dictionaries(any_text, st.none() | st.booleans() | st.integers() | any_text, max_size=3),
)
events = st.builds(
    ParkedEvent,
    consumer=any_text,
    position=positions,
    delivery=deliveries,
    reason=st.sampled_from(Reason),
    description=any_text,
)


def keys(event: ParkedEvent) -> tuple[str, str]:
    entity = row_of(event).entity
    return entity["PartitionKey"], entity["RowKey"]


@given(events)
@example(parked.event(consumer="\ud800/\\#?\x00" * 100))
@example(parked.event(description="\U0001f4a9" * 5000))
def test_every_event_fits_a_row(event: ParkedEvent) -> None:
    """Whatever a producer wrote: keys without forbidden characters, properties and entity within their limits."""
    row = row_of(event)
    for key in keys(event):
        assert key
        assert not set(key) & FORBIDDEN
        assert len(key.encode()) <= 1024
    size = 0
    for value in row.entity.values():
        match value:
            case str():
                assert len(value.encode("utf-16-le")) <= 64 * 1024  # raises for half a surrogate pair, too
                size += len(value.encode("utf-16-le"))
            case bytes():
                assert len(value) <= 64 * 1024
                size += len(value)
    assert size < 1024 * 1024
    for name in row.blobs:
        assert name.startswith("/".join(keys(event)))
        assert len(name) <= 1024


@given(events, events)
def test_two_events_have_two_rows_and_one_event_has_one(one: ParkedEvent, other: ParkedEvent) -> None:
    """Keys follow from who rejected what, and from nothing else: not from the reason, nor from the attempt."""
    again = replace(one, reason=Reason.REFUSED, description="other", delivery=replace(one.delivery, attempt=9))
    assert keys(again) == keys(one)
    if _what(one) != _what(other):
        assert keys(one) != keys(other)


def _what(event: ParkedEvent) -> tuple[object, ...]:
    delivery = event.delivery
    return event.consumer, event.position, delivery.source, delivery.message_id, delivery.body


@pytest.mark.parametrize(
    "change",
    [
        {"consumer": "other"},
        {"hub": "other"},
        {"partition": "0"},
        {"sequence_number": 42},
        {"part": 1},
        {"source": "other"},
        {"message_id": "other"},
        {"message_id": None},
        {"body": b"other"},
    ],
)
def test_each_part_of_an_events_identity_makes_another_row(change: dict[str, Any]) -> None:
    """A reused id with other content, two events in one array, a hub made anew: none hides another."""
    assert keys(parked.event(**change)) != keys(parked.event())


def test_names_that_look_alike_when_made_safe_are_told_apart() -> None:
    """What is replaced in the readable part is in the digest."""
    assert keys(parked.event(consumer="a/b")) != keys(parked.event(consumer="a#b"))


def test_rows_stand_in_the_order_of_the_stream() -> None:
    """A scan of a partition reads like the hub."""
    numbers = [0, 9, 10, 99, 10**18]
    rows = sorted(keys(parked.event(sequence_number=number))[1] for number in numbers)
    assert [int(row.split("-")[0]) for row in rows] == numbers


def test_a_row_tells_a_person_what_happened() -> None:
    """Columns to search by, without opening anything."""
    entity = row_of(parked.event()).entity
    assert entity["PartitionKey"] == "record_movement~stock-movements~2"
    told = {name: entity[name] for name in ("Consumer", "Reason", "Description", "Hub", "Partition", "Source")}
    assert told == {
        "Consumer": "record_movement",
        "Reason": "Malformed",
        "Description": "quantity: Input should be a decimal number",
        "Hub": "stock-movements",
        "Partition": "2",
        "Source": "stock-movements",
    }
    assert (entity["SequenceNumber"][0], entity["Part"], entity["MessageId"]) == (41, 0, "m-1")
    assert (entity["BodyBytes"], entity["Body"]) == (2, b"{}")


def test_the_message_keeps_everything_but_the_body() -> None:
    """Enough to send the event again, however odd its texts are."""
    message = json.loads(
        row_of(
            parked.event(
                message_id="m-\ud800\x00" * 1000,
                partition_key="sku-1",
                content_type="application/json",
                subject="moved",
                correlation_id="c-1",
                enqueued_at=datetime(1, 1, 1, tzinfo=UTC),
                properties={"n": 1, "b": b"\xff", "t": "\ud800", "none": None},
            )
        ).entity["Message"]
    )
    assert message == {
        "source": "stock-movements",
        "messageId": "m-\ud800\x00" * 1000,
        "partitionKey": "sku-1",
        "contentType": "application/json",
        "subject": "moved",
        "correlationId": "c-1",
        "enqueuedAt": "0001-01-01T00:00:00+00:00",
        "properties": {"n": 1, "b": {"base64": base64.b64encode(b"\xff").decode()}, "t": "\ud800", "none": None},
    }


@pytest.mark.parametrize("size", [0, MAX_BODY_BYTES])
def test_a_body_that_fits_is_in_the_row(size: int) -> None:
    """An empty one is a body, too."""
    row = row_of(parked.event(body=b"x" * size))
    assert row.entity["Body"] == b"x" * size
    assert row.blobs == {}


def test_a_body_that_does_not_fit_is_a_blob() -> None:
    """And the row says where."""
    body = b"x" * (MAX_BODY_BYTES + 1)
    row = row_of(parked.event(body=body))
    assert "Body" not in row.entity
    assert row.blobs == {row.entity["BodyBlob"]: body}
    assert row.entity["BodyBytes"] == len(body)


def test_a_message_that_does_not_fit_is_a_blob() -> None:
    """Properties may be as large as the event."""
    properties = {"note": "é" * MAX_MESSAGE_CHARACTERS}
    row = row_of(parked.event(properties=properties))
    assert "Message" not in row.entity
    [(name, content)] = row.blobs.items()
    assert name == row.entity["MessageBlob"]
    assert json.loads(content)["properties"] == properties
