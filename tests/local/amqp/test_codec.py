"""AMQP values survive encoding and decoding with their type; bytes that are no AMQP are refused, whatever they are."""

import math
import string
import struct
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.amqp.decode import READERS, decode, skip
from local.amqp.encode import encode
from local.amqp.errors import DecodeError, EncodeError
from local.amqp.values import (
    Array,
    Byte,
    Char,
    DecimalBits,
    Described,
    Float32,
    Int,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)


def integers(bits: int, *, signed: bool) -> st.SearchStrategy[int]:
    """All integers of a width, with the ends of the range and of the compact encodings among them."""
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    edges = [edge for edge in (low, -129, -128, 0, 127, 128, 255, 256, high) if low <= edge <= high]
    return st.sampled_from(edges) | st.integers(low, high)


SYMBOLS = st.text(string.ascii_letters + string.digits + ":-$", max_size=300).map(Symbol)
CHARS = st.characters(exclude_categories=["Cs"]).map(Char)
DECIMALS = st.one_of(
    *(
        st.binary(min_size=size, max_size=size).map(lambda bits, code=code: DecimalBits(code, bits))
        for code, size in ((0x74, 4), (0x84, 8), (0x94, 16))
    )
)
BY_ARRAY_CODE = {
    0x50: integers(8, signed=False).map(UByte),
    0x51: integers(8, signed=True).map(Byte),
    0x56: st.booleans(),
    0x60: integers(16, signed=False).map(UShort),
    0x61: integers(16, signed=True).map(Short),
    0x70: integers(32, signed=False).map(UInt),
    0x71: integers(32, signed=True).map(Int),
    0x72: st.floats(width=32).map(Float32),
    0x73: CHARS,
    0x80: integers(64, signed=False).map(ULong),
    0x81: integers(64, signed=True),
    0x82: st.floats(),
    0x83: integers(64, signed=True).map(Timestamp),
    0x98: st.uuids(),
    0xB0: st.binary(max_size=300),
    0xB1: st.text(max_size=300),
    0xB3: SYMBOLS,
    0xD0: st.lists(st.none() | st.text(), max_size=3),
    0xD1: st.dictionaries(SYMBOLS, st.integers(0, 9), max_size=3),
}
SCALARS = st.one_of(st.none(), DECIMALS, *(kind for code, kind in BY_ARRAY_CODE.items() if code < 0xC0))
ARRAYS = st.sampled_from(sorted(BY_ARRAY_CODE)).flatmap(
    lambda code: st.builds(
        lambda items, descriptor: Array(code, tuple(items), descriptor),
        st.lists(BY_ARRAY_CODE[code], max_size=300 if code == 0x50 else 5),
        st.none() | SYMBOLS,
    )
)
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(SYMBOLS | st.text(max_size=9) | st.uuids(), inner, max_size=5),
        st.builds(Described, integers(64, signed=False).map(ULong) | SYMBOLS, inner),
    ),
    max_leaves=12,
)


def same(left: object, right: object) -> bool:
    """Equality that also compares types, and takes NaN for NaN."""
    if type(left) is not type(right):
        return False
    match left, right:
        case float(), float():
            return left == right or (math.isnan(left) and math.isnan(right))
        case list() | tuple(), list() | tuple():
            return len(left) == len(right) and all(map(same, left, right))
        case dict(), dict():
            return same(list(left.items()), list(right.items()))
        case Array(), Array():
            return left.code == right.code and same([left.items, left.descriptor], [right.items, right.descriptor])
        case Described(), Described():
            return same([left.descriptor, left.value], [right.descriptor, right.value])
        case _:
            return left == right


@given(VALUES)
def test_round_trip(value: object) -> None:
    """What is encoded is decoded to the same value of the same type, and to the last byte."""
    encoded = bytes(encode(value))
    decoded, end = decode(encoded)
    assert same(decoded, value)
    assert end == skip(encoded, 0) == len(encoded)


@given(VALUES, st.data())
def test_truncated(value: object, data: st.DataObject) -> None:
    """A value that is cut short anywhere is refused."""
    encoded = bytes(encode(value))
    cut = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises(DecodeError):
        decode(cut)


@given(
    st.binary(max_size=64)
    | st.builds(bytes.__add__, st.sampled_from(sorted(READERS)).map(lambda c: bytes((c,))), st.binary(max_size=40))
)
def test_noise(noise: bytes) -> None:
    """Arbitrary bytes are a value or a DecodeError, never anything else."""
    try:
        _, end = decode(noise)
    except DecodeError:
        return
    assert 0 < end <= len(noise)


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        ("43", UInt(0)),
        ("5207", UInt(7)),
        ("7000000007", UInt(7)),
        ("5601", True),
        ("45", []),
        ("c003024143", [True, UInt(0)]),
        ("d00000000600000002" + "4143", [True, UInt(0)]),
        ("e00602a301610162", Array(0xB3, (Symbol("a"), Symbol("b")))),
        ("005324c000", None),
    ],
)
def test_other_encodings(encoded: str, value: object) -> None:
    """Every form that the specification allows for a value is understood; a list without its count is none."""
    if value is None:
        with pytest.raises(DecodeError):
            decode(bytes.fromhex(encoded))
    else:
        assert same(decode(bytes.fromhex(encoded))[0], value)


def test_nesting_bomb() -> None:
    """Thousands of nested lists are refused, not followed."""
    bomb = b"\x45"
    for _ in range(5000):
        bomb = b"\xd0" + struct.pack(">II", len(bomb) + 4, 1) + bomb
    with pytest.raises(DecodeError):
        decode(bomb)


def test_count_bomb() -> None:
    """An array of four billion nulls in a dozen bytes is refused."""
    with pytest.raises(DecodeError):
        decode(b"\xf0" + struct.pack(">II", 5, 0xFFFFFFFF) + b"\x40")


@pytest.mark.parametrize("value", [UByte(256), UInt(-1), 2**63, object(), {1, 2}, Symbol("ü"), uuid])
def test_unencodable(value: object) -> None:
    """A number that does not fit, or a type without an AMQP twin, is our own mistake and says so."""
    with pytest.raises(EncodeError):
        encode(value)
