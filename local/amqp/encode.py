"""From AMQP values to bytes, in the most compact form. Source: OASIS AMQP 1.0, part 1, section 1.6."""

import struct
import uuid
from collections.abc import Callable
from typing import Any

from .errors import EncodeError
from .values import (
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

type Writer = Callable[[bytearray, Any], None]

# Sizes and counts below this fit the one-byte form of variable-width and compound types.
ONE_BYTE = 256


def encode(value: object, out: bytearray | None = None) -> bytearray:
    """Append the encoding of `value` to `out` (a new buffer by default) and return it.

    Raises EncodeError for a Python type that stands for no AMQP type, or a number outside its AMQP type.
    """
    out = bytearray() if out is None else out
    try:
        _write(out, value)
    except (struct.error, UnicodeEncodeError) as error:
        raise EncodeError(f"{value!r} does not fit its AMQP type") from error
    return out


def _write(out: bytearray, value: object) -> None:
    writer = WRITERS.get(type(value))
    if writer is None:
        raise EncodeError(f"{type(value).__name__} stands for no AMQP type")
    writer(out, value)


def _fixed(code: int, layout: str) -> Writer:
    pack = struct.Struct(layout).pack

    def write(out: bytearray, value: Any) -> None:
        out.append(code)
        out += pack(value)

    return write


def _unsigned(zero: int, small: int, wide: int, layout: str) -> Writer:
    pack = struct.Struct(layout).pack

    def write(out: bytearray, value: int) -> None:
        if value == 0:
            out.append(zero)
        elif 0 < value < ONE_BYTE:
            out += bytes((small, value))
        else:
            out.append(wide)
            out += pack(value)

    return write


def _signed(small: int, wide: int, layout: str) -> Writer:
    pack = struct.Struct(layout).pack

    def write(out: bytearray, value: int) -> None:
        if -128 <= value <= 127:
            out += bytes((small, value & 0xFF))
        else:
            out.append(wide)
            out += pack(value)

    return write


def _variable(small: int, to_bytes: Callable[[Any], bytes]) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        content = to_bytes(value)
        if len(content) < ONE_BYTE:
            out += bytes((small, len(content)))
        else:
            out.append(small + 0x10)  # the four-byte form of a variable-width type stands one row below
            out += struct.pack(">I", len(content))
        out += content

    return write


def _compound(out: bytearray, small: int, count: int, content: bytearray) -> None:
    # The size counts the count field too, hence the one byte less that the short form can hold.
    if len(content) < ONE_BYTE - 1 and count < ONE_BYTE:
        out += bytes((small, len(content) + 1, count))
    else:
        out.append(small + 0x10)
        out += struct.pack(">II", len(content) + 4, count)
    out += content


def _list(out: bytearray, items: list[object] | tuple[object, ...]) -> None:
    if not items:
        out.append(0x45)
        return
    content = bytearray()
    for item in items:
        _write(content, item)
    _compound(out, 0xC0, len(items), content)


def _map(out: bytearray, entries: dict[object, object]) -> None:
    content = bytearray()
    for key, value in entries.items():
        _write(content, key)
        _write(content, value)
    _compound(out, 0xC1, 2 * len(entries), content)


def _array(out: bytearray, array: Array) -> None:
    content = bytearray()
    if array.descriptor is not None:
        content.append(0x00)
        _write(content, array.descriptor)
    content.append(array.code)
    for item in array.items:
        _write_wide(content, array.code, item)
    _compound(out, 0xE0, len(array.items), content)


def _write_wide(out: bytearray, code: int, item: Any) -> None:
    """Write an array item: without its format code, in the widest form of its type."""
    if layout := FIXED_ITEMS.get(code):
        out += struct.pack(layout, ord(item) if code == 0x73 else item)
        return
    match item:
        case None:
            return
        case str() | bytes():
            content = item.encode() if isinstance(item, str) else item
            out += struct.pack(">I", len(content)) + content
        case uuid.UUID():
            out += item.bytes
        case DecimalBits():
            out += item.bits
        case list() | dict() | Array():
            _write_wide_compound(out, item)
        case _:
            raise EncodeError(f"{type(item).__name__} cannot be an item of an array of 0x{code:02x}")


def _write_wide_compound(out: bytearray, item: list[object] | dict[object, object] | Array) -> None:
    whole = bytearray()
    _write(whole, item)
    match whole[0]:
        case 0x45:
            out += struct.pack(">II", 4, 0)
        case 0xC0 | 0xC1 | 0xE0:
            out += struct.pack(">II", whole[1] + 3, whole[2]) + whole[3:]
        case _:
            out += whole[1:]


def _described(out: bytearray, described: Described) -> None:
    out.append(0x00)
    _write(out, described.descriptor)
    _write(out, described.value)


def _decimal(out: bytearray, decimal: DecimalBits) -> None:
    out.append(decimal.code)
    out += decimal.bits


FIXED_ITEMS = {0x50: ">B", 0x51: ">b", 0x56: ">B", 0x60: ">H", 0x61: ">h", 0x70: ">I", 0x71: ">i", 0x72: ">f"}
FIXED_ITEMS |= {0x73: ">I", 0x80: ">Q", 0x81: ">q", 0x82: ">d", 0x83: ">q"}

WRITERS: dict[type, Writer] = {
    type(None): lambda out, _value: out.append(0x40),
    bool: lambda out, value: out.append(0x41 if value else 0x42),
    int: _signed(0x55, 0x81, ">q"),
    float: _fixed(0x82, ">d"),
    str: _variable(0xA1, str.encode),
    bytes: _variable(0xA0, bytes),
    bytearray: _variable(0xA0, bytes),
    memoryview: _variable(0xA0, bytes),
    uuid.UUID: lambda out, value: out.extend(b"\x98" + value.bytes),
    list: _list,
    tuple: _list,
    dict: _map,
    UByte: _fixed(0x50, ">B"),
    UShort: _fixed(0x60, ">H"),
    UInt: _unsigned(0x43, 0x52, 0x70, ">I"),
    ULong: _unsigned(0x44, 0x53, 0x80, ">Q"),
    Byte: _fixed(0x51, ">b"),
    Short: _fixed(0x61, ">h"),
    Int: _signed(0x54, 0x71, ">i"),
    Timestamp: _fixed(0x83, ">q"),
    Float32: _fixed(0x72, ">f"),
    Symbol: _variable(0xA3, lambda symbol: symbol.encode("ascii")),
    Char: lambda out, value: out.extend(b"\x73" + struct.pack(">I", ord(value))),
    DecimalBits: _decimal,
    Array: _array,
    Described: _described,
}
