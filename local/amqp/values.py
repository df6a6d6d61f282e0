"""Python types for the AMQP 1.0 values that have no Python type of their own.

Source: OASIS AMQP 1.0, part 1 (Types). A value keeps its AMQP type through decoding and encoding, so that a message's
application properties leave the broker with the types they came in with. Plain Python types stand for the most used
AMQP types: None null, bool boolean, int long, float double, str string, bytes binary, uuid.UUID uuid, list list,
dict map.
"""

from collections.abc import Iterable
from dataclasses import dataclass


class UByte(int):
    """Unsigned, 8 bits."""

    __slots__ = ()


class UShort(int):
    """Unsigned, 16 bits."""

    __slots__ = ()


class UInt(int):
    """Unsigned, 32 bits."""

    __slots__ = ()


class ULong(int):
    """Unsigned, 64 bits."""

    __slots__ = ()


class Byte(int):
    """Signed, 8 bits."""

    __slots__ = ()


class Short(int):
    """Signed, 16 bits."""

    __slots__ = ()


class Int(int):
    """Signed, 32 bits."""

    __slots__ = ()


class Timestamp(int):
    """Milliseconds since the Unix epoch, UTC."""

    __slots__ = ()


class Float32(float):
    """IEEE 754 binary32."""

    __slots__ = ()


class Symbol(str):
    """ASCII text from a constrained domain: names of fields, conditions, capabilities."""

    __slots__ = ()


class Char(str):
    """One Unicode character."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class DecimalBits:
    """An IEEE 754 decimal (32, 64 or 128 bits), carried unread: nothing here calculates with it."""

    code: int  # the format code, which also tells the width
    bits: bytes  # the encoded number, big-endian


@dataclass(frozen=True, slots=True)
class Described:
    """A value with a descriptor that says what it means, such as an outcome or a message section."""

    descriptor: object  # ULong or Symbol
    value: object  # any AMQP value


@dataclass(frozen=True, slots=True)
class Array:
    """Values of one type, written with one constructor."""

    code: int  # the format code of every item, in its widest form
    items: tuple[object, ...]  # the items, without their descriptor
    descriptor: object = None  # shared by all items, or None when they have none


LONG_CODE = 0x81
TIMESTAMP_CODE = 0x83
SYMBOL_CODE = 0xB3


def symbols(names: Iterable[str]) -> Array:
    """An array of symbols, the form of capabilities and SASL mechanisms."""
    return Array(SYMBOL_CODE, tuple(Symbol(name) for name in names))


def longs(numbers: Iterable[int]) -> Array:
    """An array of longs, such as sequence numbers."""
    return Array(LONG_CODE, tuple(int(number) for number in numbers))


def timestamps(instants_ms: Iterable[int]) -> Array:
    """An array of timestamps, in milliseconds since the epoch."""
    return Array(TIMESTAMP_CODE, tuple(Timestamp(instant) for instant in instants_ms))
