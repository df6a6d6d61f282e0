"""Frames are cut out of the stream however it arrives; performatives and message sections keep their fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.amqp import BATCH_MESSAGE_FORMAT, DecodeError, Header, Message, Section, batch_entries, encode_section
from local.amqp.errors import FramingError
from local.amqp.frames import Frame, FrameReader, FrameType, Protocol, ProtocolHeader, build_frame, protocol_header
from local.amqp.performatives import Flow, Transfer, decode_performative
from local.amqp.values import Symbol, UByte, UInt

FLOW = Flow(incoming_window=UInt(5), next_outgoing_id=UInt(1), outgoing_window=UInt(9), drain=True)
TRANSFER = Transfer(handle=UInt(3), delivery_id=UInt(0), delivery_tag=b"tag", settled=False)


@given(st.lists(st.integers(1, 40), max_size=30))
def test_any_chunking(sizes: list[int]) -> None:
    """The same frames come out, whatever pieces the bytes arrive in."""
    stream = protocol_header(Protocol.AMQP)
    stream += build_frame(FrameType.AMQP, 7, FLOW) + build_frame(FrameType.AMQP, 7, TRANSFER, b"AMQP payload")
    reader, items = FrameReader(max_frame_size=512), []
    for size in [*sizes, len(stream)]:
        items += reader.feed(stream[:size])
        stream = stream[size:]
    header, flow, transfer = items
    assert header == ProtocolHeader(Protocol.AMQP, bytes((1, 0, 0)))
    assert isinstance(flow, Frame)
    assert flow.channel == 7
    assert decode_performative(flow.body) == (FLOW, b"")
    assert decode_performative(transfer.body) == (TRANSFER, b"AMQP payload")


def test_frame_too_large() -> None:
    """A frame above the announced size is a framing error, told from its first eight bytes."""
    with pytest.raises(FramingError):
        list(FrameReader(max_frame_size=512).feed(build_frame(FrameType.AMQP, 0, TRANSFER, bytes(512))[:8]))


def test_mandatory_field() -> None:
    """A performative without a mandatory field is refused by name."""
    without_handle = encode_section(Section.HEADER, [None]).replace(b"\x53\x70", b"\x53\x14")
    with pytest.raises(DecodeError, match="transfer lacks a mandatory field"):
        decode_performative(without_handle)


def test_message_sections() -> None:
    """A message is taken apart and put together without touching what the application wrote."""
    message = Message(
        header=Header(durable=True, priority=UByte(4), ttl_ms=UInt(1000)),
        annotations={Symbol("x-opt-note"): "n"},
        properties=encode_section(Section.PROPERTIES, ["id-1", None, "to"]),
        application_properties=encode_section(Section.APPLICATION_PROPERTIES, {"n": UByte(1)}),
        body=encode_section(Section.DATA, b"part one") + encode_section(Section.DATA, b"part two"),
    )
    assert Message.parse(message.encode()) == message
    assert message.properties_list() == ["id-1", None, "to"]
    assert message.application_properties_map() == {"n": UByte(1)}


def test_batch_entries() -> None:
    """A batch holds one encoded message in each data section."""
    one, two = Message(body=encode_section(Section.DATA, b"1")), Message(body=encode_section(Section.DATA, b"2"))
    batch = Message(body=b"".join(encode_section(Section.DATA, entry.encode()) for entry in (one, two)))
    assert [Message.parse(entry) for entry in batch_entries(batch.encode())] == [one, two]
    assert BATCH_MESSAGE_FORMAT == 0x80013700


@given(st.binary(max_size=60))
def test_message_noise(noise: bytes) -> None:
    """Arbitrary bytes are a message or a DecodeError, never anything else."""
    try:
        Message.parse(noise)
        Message.parse(b"\x00\x53\x70" + noise)
    except DecodeError:
        pass
