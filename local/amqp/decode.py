"""From bytes to AMQP values. Source: OASIS AMQP 1.0, part 1, section 1.6 (Primitive Type Definitions).

Every reader takes the buffer and the position just after the format code, and returns the value and the next position.
Sizes that reach outside the buffer, wrong element counts and unknown format codes raise `DecodeError`.
"""

import struct
import uuid
from collections.abc import Callable
from typing import Any

from .errors import DecodeError
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

type Buffer = bytes | bytearray | memoryview
type Reader = Callable[[Buffer, int], tuple[Any, int]]

DESCRIBED_CODE = 0x00
# Items of zero width cost no bytes, so their count is not bounded by the frame; more than this is an attack or a bug.
MAX_ZERO_WIDTH_ITEMS = 65536
# Array items are kept under the widest format code of their type, so that two encodings of one array are one value.
WIDEST = {0x41: 0x56, 0x42: 0x56, 0x43: 0x70, 0x44: 0x80, 0x45: 0xD0, 0x52: 0x70, 0x53: 0x80, 0x54: 0x71, 0x55: 0x81}
WIDEST |= {0xA0: 0xB0, 0xA1: 0xB1, 0xA3: 0xB3, 0xC0: 0xD0, 0xC1: 0xD1, 0xE0: 0xF0}
# The high nibble of a format code tells how long the value is (part 1, section 1.2).
FIXED_WIDTHS = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}
VARIABLE_SIZE_FIELDS = {0xA: 1, 0xC: 1, 0xE: 1, 0xB: 4, 0xD: 4, 0xF: 4}


def decode(buffer: Buffer, position: int = 0) -> tuple[Any, int]:
    """Read one value. Returns it with the position after it; raises DecodeError when the bytes are not AMQP."""
    try:
        return _value(buffer, position)
    except (IndexError, struct.error) as error:
        raise DecodeError("a value reaches past the end of its frame or section") from error
    except UnicodeDecodeError as error:
        raise DecodeError("a string is not UTF-8, or a symbol is not ASCII") from error
    except TypeError as error:
        raise DecodeError("a map has a key that cannot be one") from error
    except RecursionError as error:
        raise DecodeError("values are nested too deeply") from error


def skip(buffer: Buffer, position: int) -> int:
    """The position after the value that starts at `position`, found without reading the value."""
    try:
        code = buffer[position]
        if code == DESCRIBED_CODE:
            return skip(buffer, skip(buffer, position + 1))
        if (width := FIXED_WIDTHS.get(code >> 4)) is not None:
            end = position + 1 + width
        else:
            size_field = VARIABLE_SIZE_FIELDS[code >> 4]
            end = position + 1 + size_field + int.from_bytes(buffer[position + 1 : position + 1 + size_field])
    except (IndexError, KeyError, RecursionError) as error:
        raise DecodeError("a section does not hold an AMQP value") from error
    if end > len(buffer):
        raise DecodeError("a section reaches past the end of its message")
    return end


def _value(buffer: Buffer, position: int) -> tuple[Any, int]:
    reader = READERS.get(buffer[position])
    if reader is None:
        raise DecodeError(f"unknown format code 0x{buffer[position]:02x}")
    return reader(buffer, position + 1)


def _constant(value: object) -> Reader:
    return lambda _buffer, position: (value, position)


def _fixed(layout: str, make: Callable[[Any], object]) -> Reader:
    unpacker = struct.Struct(layout)
    size = unpacker.size

    def read(buffer: Buffer, position: int) -> tuple[Any, int]:
        return make(unpacker.unpack_from(buffer, position)[0]), position + size

    return read


def _variable(size_layout: str, make: Callable[[Buffer], object]) -> Reader:
    unpacker = struct.Struct(size_layout)
    size_field = unpacker.size

    def read(buffer: Buffer, position: int) -> tuple[Any, int]:
        start = position + size_field
        end = start + unpacker.unpack_from(buffer, position)[0]
        if end > len(buffer):
            raise DecodeError("a value is longer than the bytes that hold it")
        return make(buffer[start:end]), end

    return read


def _opaque(code: int, size: int) -> Reader:
    def read(buffer: Buffer, position: int) -> tuple[Any, int]:
        if position + size > len(buffer):
            raise DecodeError("a decimal is cut short")
        return DecimalBits(code, bytes(buffer[position : position + size])), position + size

    return read


def _uuid(buffer: Buffer, position: int) -> tuple[Any, int]:
    if position + 16 > len(buffer):
        raise DecodeError("a uuid is cut short")
    return uuid.UUID(bytes=bytes(buffer[position : position + 16])), position + 16


def _char(code_point: int) -> Char:
    try:
        return Char(chr(code_point))
    except (ValueError, OverflowError) as error:
        raise DecodeError("a char is not a Unicode code point") from error


def _compound(size_layout: str, read_items: Callable[[Buffer, int, int], tuple[Any, int]]) -> Reader:
    unpacker = struct.Struct(size_layout)
    size_field = unpacker.size // 2

    def read(buffer: Buffer, position: int) -> tuple[Any, int]:
        size, count = unpacker.unpack_from(buffer, position)
        end = position + size_field + size
        if end > len(buffer) or count > max(size, MAX_ZERO_WIDTH_ITEMS):
            raise DecodeError("a list, map or array is longer than the bytes that hold it")
        value, position = read_items(buffer, position + 2 * size_field, count)
        if position != end:
            raise DecodeError("a list, map or array does not fill the size it states")
        return value, end

    return read


def _list_items(buffer: Buffer, position: int, count: int) -> tuple[Any, int]:
    items = []
    for _ in range(count):
        item, position = _value(buffer, position)
        items.append(item)
    return items, position


def _map_items(buffer: Buffer, position: int, count: int) -> tuple[Any, int]:
    if count % 2:
        raise DecodeError("a map has a key without a value")
    entries = {}
    for _ in range(count // 2):
        key, position = _value(buffer, position)
        entries[key], position = _value(buffer, position)
    return entries, position


def _array_items(buffer: Buffer, position: int, count: int) -> tuple[Any, int]:
    descriptor = None
    if buffer[position] == DESCRIBED_CODE:
        descriptor, position = _value(buffer, position + 1)
    code = buffer[position]
    reader = READERS.get(code)
    if reader is None or code == DESCRIBED_CODE:
        raise DecodeError(f"unknown array constructor 0x{code:02x}")
    position += 1
    items = []
    for _ in range(count):
        item, position = reader(buffer, position)
        items.append(item)
    return Array(WIDEST.get(code, code), tuple(items), descriptor), position


def _described(buffer: Buffer, position: int) -> tuple[Any, int]:
    descriptor, position = _value(buffer, position)
    value, position = _value(buffer, position)
    return Described(descriptor, value), position


READERS: dict[int, Reader] = {
    DESCRIBED_CODE: _described,
    0x40: _constant(None),
    0x41: _constant(True),
    0x42: _constant(False),
    0x43: _constant(UInt(0)),
    0x44: _constant(ULong(0)),
    0x45: lambda _buffer, position: ([], position),
    0x50: _fixed(">B", UByte),
    0x51: _fixed(">b", Byte),
    0x52: _fixed(">B", UInt),
    0x53: _fixed(">B", ULong),
    0x54: _fixed(">b", Int),
    0x55: _fixed(">b", int),
    0x56: _fixed(">B", bool),
    0x60: _fixed(">H", UShort),
    0x61: _fixed(">h", Short),
    0x70: _fixed(">I", UInt),
    0x71: _fixed(">i", Int),
    0x72: _fixed(">f", Float32),
    0x73: _fixed(">I", _char),
    0x74: _opaque(0x74, 4),
    0x80: _fixed(">Q", ULong),
    0x81: _fixed(">q", int),
    0x82: _fixed(">d", float),
    0x83: _fixed(">q", Timestamp),
    0x84: _opaque(0x84, 8),
    0x94: _opaque(0x94, 16),
    0x98: _uuid,
    0xA0: _variable(">B", bytes),
    0xA1: _variable(">B", lambda text: str(text, "utf-8")),
    0xA3: _variable(">B", lambda text: Symbol(str(text, "ascii"))),
    0xB0: _variable(">I", bytes),
    0xB1: _variable(">I", lambda text: str(text, "utf-8")),
    0xB3: _variable(">I", lambda text: Symbol(str(text, "ascii"))),
    0xC0: _compound(">BB", _list_items),
    0xC1: _compound(">BB", _map_items),
    0xD0: _compound(">II", _list_items),
    0xD1: _compound(">II", _map_items),
    0xE0: _compound(">BB", _array_items),
    0xF0: _compound(">II", _array_items),
}
