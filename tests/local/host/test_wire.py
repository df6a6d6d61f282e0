"""Frames between host and worker."""

from local.host import wire


def test_a_frame_survives_the_way_there_and_back() -> None:
    """Nested values, every byte value and text with quotes arrive as they were."""
    http = wire.HttpData(wire.TypedData(binary=bytes(range(256))), {"x": "y"}, cookies=("a=b", "c=d"))
    metadata = {"MessageId": wire.TypedData(string='"1001/plac\N{LATIN SMALL LETTER E WITH ACUTE}d"')}
    frame = wire.Invoke("i", "f", "message", wire.TypedData(http=http), metadata, "00-1-2-01")
    packed = wire.pack(frame)
    assert wire.LENGTH.unpack(packed[: wire.LENGTH.size]) == (len(packed) - wire.LENGTH.size,)
    assert wire.unpack(packed[wire.LENGTH.size :]) == frame
