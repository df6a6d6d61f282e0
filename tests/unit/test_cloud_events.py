"""CloudEvents are recognised by their shape, and their data keeps every byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency import DeduplicationKey, Fingerprint, NoStableKey
from shared.transports.cloud_events import events_in
from shared.transports.service_bus import deliveries
from tests import examples

BINARY = {"specversion": "1.0", "id": "1001/placed", "source": "/shop", "type": "order.placed"}


def only(body: bytes, properties: dict[str, Any] | None = None) -> Any:
    """The one event in a message."""
    [event] = events_in(body, properties or {}, "application/json")
    return event


@pytest.mark.parametrize("content_type", ["application/json", "application/cloudevents+json", "text/plain", None])
def test_a_structured_event_is_recognised_whatever_the_content_type(content_type: str | None) -> None:
    """Producers forget the content type; the members say what it is."""
    message = examples.service_bus_message(examples.cloud_event_text().encode(), content_type=content_type)
    [delivery] = deliveries(message, "orders")
    assert (delivery.source, delivery.message_id, delivery.subject) == ("/shop", "1001/placed", "order.placed")
    assert delivery.body == b'{"n": 1}'


@pytest.mark.parametrize(
    "data",
    [
        '{"price":19.990,  "big":12345678901234567890.123456789012345}',
        "[1.0, 1.00,\t1e2]",
        '"text with \\u00e9 and \\ud800"',
        "null",
        "0.10",
        '{"id": "inner", "data": {"id": "deeper"}, "é": "ü"}',
    ],
)
def test_data_keeps_the_text_it_was_written_with(data: str) -> None:
    """Decimals, spacing and escapes survive: the data is cut out of the body, not written anew."""
    attributes = json.dumps(BINARY)[1:-1]
    assert only(f' {{"data" : {data} , {attributes} }} '.encode()).data == data.encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values, st.booleans(), st.sampled_from([None, 0, 3]))
def test_any_json_data_is_cut_out_exactly(value: object, ascii_only: bool, indent: int | None) -> None:
    """Whatever the value and however it is laid out, the data's bytes are the producer's."""
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert only(examples.cloud_event_text(data.decode()).encode()).data == data


def test_base64_data_is_decoded() -> None:
    """Binary data of a structured event arrives as bytes."""
    text = examples.cloud_event_text('"H4sIAP/+"').replace('"data"', '"data_base64"')
    assert only(text.encode()).data == b"\x1f\x8b\x08\x00\xff\xfe"


def test_an_event_without_data_has_an_empty_body() -> None:
    """Data is optional in the specification."""
    assert only(json.dumps(BINARY).encode()).data == b""


def test_a_batch_is_split() -> None:
    """An array of events is several deliveries, each with its own identity and data."""
    first, second, third = (examples.cloud_event_text(f'{{"n": {n}.0}}', id=f"e{n}") for n in (1, 2, 3))
    found = deliveries(examples.service_bus_message(f"[{first},\n{second} , {third}]".encode()), "orders")
    assert [delivery.message_id for delivery in found] == ["e1", "e2", "e3"]
    assert [delivery.body for delivery in found] == [b'{"n": 1.0}', b'{"n": 2.0}', b'{"n": 3.0}']


@pytest.mark.parametrize("prefix", ["cloudEvents:", "cloudEvents_", "ce-", "ce_", "CE-", "Ce-", "CLOUDEVENTS:"])
def test_a_binary_event_is_recognised_under_every_prefix(prefix: str) -> None:
    """The AMQP binding's prefixes and those that bridges carry over, in any case; the body is the data."""
    properties = {f"{prefix}{name.title()}": value for name, value in BINARY.items()}
    event = only(b"\x1f\x8b", properties)
    assert (event.source, event.id, event.data) == ("/shop", "1001/placed", b"\x1f\x8b")
    assert event.data_content_type == "application/json"


def test_an_event_is_the_same_message_in_every_form() -> None:
    """Structured, batched or binary, in any queue message: source and id make the key, data makes the print."""
    data = '{"n": 1.50}'
    structured = examples.cloud_event_text(data).encode()
    messages = [
        examples.service_bus_message(structured, message_id="a"),
        examples.service_bus_message(b"[" + structured + b"]", message_id="b"),
        examples.service_bus_message(
            data.encode(), message_id="c", application_properties={f"cloudEvents:{n}": v for n, v in BINARY.items()}
        ),
    ]
    found = [delivery for message in messages for delivery in deliveries(message, "orders")]
    keys = {DeduplicationKey.of("place_order", delivery.source, delivery.message_id) for delivery in found}
    prints = {Fingerprint.of(delivery.body) for delivery in found}
    assert len(found) == 3
    assert len(keys) == len(prints) == 1


def test_attributes_that_are_repeated_as_properties_do_not_hide_the_structured_event() -> None:
    """A producer of structured events may repeat the attributes as properties: the body is still the event."""
    properties = {f"cloudEvents:{name}": value for name, value in BINARY.items()}
    assert only(examples.cloud_event_text('{"n": 1}').encode(), properties).data == b'{"n": 1}'


@pytest.mark.parametrize("attribute", ["id", "source"])
@pytest.mark.parametrize("value", ["", None, 7])
def test_an_event_without_a_usable_identity_has_no_stable_key(attribute: str, value: object) -> None:
    """The broker's message id does not stand in for an event's: a producer gives a copy of the event another one."""
    structured = json.dumps(BINARY | {attribute: value}).encode()
    binary = {f"ce-{name}": part for name, part in (BINARY | {attribute: value}).items()}
    for body, properties in ((structured, {}), (b"{}", binary)):
        [delivery] = deliveries(examples.service_bus_message(body, application_properties=properties), "orders")
        with pytest.raises(NoStableKey):
            DeduplicationKey.of("place_order", delivery.source, delivery.message_id)


def test_an_attribute_under_two_spellings_with_two_values_is_no_identity() -> None:
    """Which of the two ids would another reader take?"""
    properties = {f"ce-{name}": value for name, value in BINARY.items()} | {"cloudEvents:id": "another"}
    assert only(b"{}", properties).id is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x1f\x8b\x08",
        b"{}",
        b"[]",
        b'"specversion"',
        b'{"specversion": "1.0", "id": "1", "source": "/s"}',
        b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"',
        b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"} trailing',
        b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "t",}',
        b'{"specversion": "1.0", "id": "1", "id": "2", "source": "/s", "type": "t"}',
        b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data": 1, "data_base64": ""}',
        b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data_base64": "!"}',
        b'[{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}, {"specversion": "1.0"}]',
        b'{"specversion": "1.0", "data": ' + b"[" * 100_000,
    ],
)
def test_what_lacks_the_shape_is_a_plain_message(body: bytes) -> None:
    """Whatever it is, it is delivered as it came, and the consumer's parser decides."""
    [delivery] = deliveries(examples.service_bus_message(body), "orders")
    assert (delivery.source, delivery.message_id, delivery.body) == ("orders", "1001/placed", body)


def test_binary_attributes_that_are_incomplete_make_no_event() -> None:
    """Three of the four required attributes may be anybody's properties."""
    properties = {f"ce-{name}": value for name, value in BINARY.items() if name != "type"}
    assert events_in(b"{}", properties, None) == ()
