"""MurmurHash3 x64 128-bit with seed 0, the hash under Cosmos DB's partitioning (Austin Appleby, public domain)."""

import struct

_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_BLOCK = 16


def hash128(data: bytes) -> bytes:
    """The 16 bytes of the hash, most significant first."""
    h1 = h2 = 0
    for start in range(0, len(data) - _BLOCK + 1, _BLOCK):
        k1, k2 = struct.unpack_from("<QQ", data, start)
        h1 ^= _scramble(k1, _C1, 31, _C2)
        h1 = ((_rotate(h1, 27) + h2) * 5 + 0x52DCE729) & _MASK
        h2 ^= _scramble(k2, _C2, 33, _C1)
        h2 = ((_rotate(h2, 31) + h1) * 5 + 0x38495AB5) & _MASK
    tail = data[len(data) // _BLOCK * _BLOCK :]
    k1, k2 = struct.unpack("<QQ", tail.ljust(_BLOCK, b"\0"))
    h2 ^= _scramble(k2, _C2, 33, _C1) ^ len(data)
    h1 ^= _scramble(k1, _C1, 31, _C2) ^ len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    h1, h2 = _finish(h1), _finish(h2)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    return h2.to_bytes(8, "big") + h1.to_bytes(8, "big")


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & _MASK


def _scramble(value: int, first: int, bits: int, second: int) -> int:
    return (_rotate((value * first) & _MASK, bits) * second) & _MASK


def _finish(value: int) -> int:
    value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) & _MASK
    value = ((value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53) & _MASK
    return value ^ (value >> 33)
