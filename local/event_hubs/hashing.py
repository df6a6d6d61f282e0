"""Which partition a partition key belongs to.

The function is Bob Jenkins' lookup3 (hashlittle2, both seeds 0) over the key's UTF-8 bytes; the two 32-bit results are
xored, the low 16 bits taken as a signed number, and its remainder by the number of partitions, sign dropped, is the
partition. Source: http://burtleburtle.net/bob/c/lookup3.c; the remainder is that of the partition resolver in
Microsoft's Event Hubs SDKs, which follow the service. It is the same in every process and on every machine.
"""

import struct

WORD = 0xFFFFFFFF  # arithmetic is modulo 2**32
START = 0xDEADBEEF
BLOCK = 12  # bytes that are mixed in at a time, as three words
MIX_ROTATIONS = (4, 6, 8, 16, 19, 4)
FINAL_ROTATIONS = (14, 11, 25, 16, 4, 14, 24)


def partition_of(key: str, partition_count: int) -> int:
    """The index of the partition that events with this key go to."""
    # The remainder truncates towards zero, as in C#: -5 by 4 is -1, and the partition is 1.
    return abs(key_hash(key)) % partition_count


def key_hash(key: str) -> int:
    """The signed 16-bit hash of a partition key."""
    first, second = lookup3(key.encode())
    low = (first ^ second) & 0xFFFF
    return low - 0x10000 if low & 0x8000 else low


def lookup3(data: bytes) -> tuple[int, int]:
    """Two 32-bit hashes of some bytes, the better one first."""
    a = b = c = (START + len(data)) & WORD
    position = 0
    while len(data) - position > BLOCK:
        a, b, c = _mix(*_add(a, b, c, data[position : position + BLOCK]))
        position += BLOCK
    if position == len(data):  # of empty data only
        return c, b
    _, b, c = _final(*_add(a, b, c, data[position:].ljust(BLOCK, b"\0")))
    return c, b


def _add(a: int, b: int, c: int, block: bytes) -> tuple[int, int, int]:
    x, y, z = struct.unpack("<III", block)
    return (a + x) & WORD, (b + y) & WORD, (c + z) & WORD


def _rotate(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (32 - bits))) & WORD


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for bits in MIX_ROTATIONS:
        a = ((a - c) & WORD) ^ _rotate(c, bits)
        c = (c + b) & WORD
        a, b, c = b, c, a  # the words take turns
    return a, b, c


def _final(a: int, b: int, c: int) -> tuple[int, int, int]:
    for bits in FINAL_ROTATIONS:
        c = ((c ^ b) - _rotate(b, bits)) & WORD
        a, b, c = b, c, a
    return c, a, b
