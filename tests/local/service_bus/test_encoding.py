"""What the broker takes from a sender, and what a receiver gets."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.amqp import BATCH_MESSAGE_FORMAT, AmqpError, Header, Message, Section, encode_section
from local.amqp.values import Int, Symbol, Timestamp, UInt
from local.service_bus.encoding import MAX_BATCH_COUNT, MAX_MESSAGE_SIZE, read_message, read_transfer, write_message
from local.service_bus.stored import MessageState, StoredMessage

from .builders import an_encoded_message


def a_batch(*entries: bytes) -> bytes:
    return Message(body=b"".join(encode_section(Section.DATA, entry) for entry in entries)).encode()


def test_message_id() -> None:
    """The sender's MessageId is kept; a message without one is given one, which receivers see too."""
    assert read_message(an_encoded_message("order-1")).message_id == "order-1"
    nameless = read_message(an_encoded_message(None))
    assert nameless.message_id
    assert nameless.content.properties_list()[0] == nameless.message_id


def test_message_id_length() -> None:
    """A MessageId may have 128 characters, and no more."""
    assert read_message(an_encoded_message("x" * 128))
    with pytest.raises(AmqpError) as raised:
        read_message(an_encoded_message("x" * 129))
    assert raised.value.condition == "com.microsoft:argument-out-of-range"


def test_message_size() -> None:
    """A message inside a batch is held to the same size as one alone."""
    with pytest.raises(AmqpError) as raised:
        read_transfer(a_batch(an_encoded_message(body=bytes(MAX_MESSAGE_SIZE))), BATCH_MESSAGE_FORMAT)
    assert raised.value.condition == "amqp:link:message-size-exceeded"


def test_batch() -> None:
    """Every data section of a batch is a message of its own."""
    batch = a_batch(an_encoded_message("1"), an_encoded_message("2"))
    assert [submission.message_id for submission in read_transfer(batch, BATCH_MESSAGE_FORMAT)] == ["1", "2"]
    with pytest.raises(AmqpError):
        read_transfer(a_batch(*[b""] * (MAX_BATCH_COUNT + 1)), BATCH_MESSAGE_FORMAT)


def test_what_a_receiver_sees() -> None:
    """The broker's annotations and counts are added, and what a sender forged of them is overwritten."""
    forged = {Symbol("x-opt-sequence-number"): 666, Symbol("x-opt-locked-until"): Timestamp(1), Symbol("x-opt-mine"): 1}
    properties = encode_section(Section.APPLICATION_PROPERTIES, {"kept": Int(1), "changed": "old"})
    encoded = an_encoded_message(annotations=forged, application_properties=properties, header=Header(ttl_ms=UInt(9)))
    content = read_message(encoded).content
    stored = StoredMessage(content, "1", sequence_number=5, enqueued_at_ms=1000, time_to_live_ms=7, delivery_count=2)
    stored.changes = {"changed": "new"}
    seen = Message.parse(write_message(stored))
    assert seen.header == Header(durable=True, ttl_ms=UInt(7), delivery_count=UInt(2))
    assert seen.annotations == {
        Symbol("x-opt-mine"): 1,
        Symbol("x-opt-sequence-number"): 5,
        Symbol("x-opt-enqueued-time"): Timestamp(1000),
        Symbol("x-opt-message-state"): Int(MessageState.ACTIVE),
    }
    assert seen.application_properties_map() == {"kept": Int(1), "changed": "new"}
    assert type(seen.application_properties_map()["kept"]) is Int
    assert seen.body == content.body


@pytest.mark.parametrize("header", [Header(ttl_ms="soon")])  # type: ignore[arg-type]
def test_nonsense_times(header: Header) -> None:
    """A lifetime or a schedule that is no number is refused."""
    with pytest.raises(AmqpError):
        read_message(an_encoded_message(header=header))
    with pytest.raises(AmqpError):
        read_message(an_encoded_message(annotations={Symbol("x-opt-scheduled-enqueue-time"): "soon"}))


@given(st.binary(max_size=80), st.integers(0, 60))
def test_noise(noise: bytes, position: int) -> None:
    """A damaged message is refused with an AMQP error, never with anything else."""
    encoded = replace(Message.parse(an_encoded_message()), annotations={Symbol("x-opt-note"): 1}).encode()
    try:
        read_transfer(encoded[:position] + noise + encoded[position:], 0)
        read_transfer(noise, BATCH_MESSAGE_FORMAT)
    except AmqpError:
        pass
