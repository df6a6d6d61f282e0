"""Partition key values, and the effective partition key that decides which range of the container holds them.

Source of fact: the hashing in the public SDKs (partition key definition version 2, kinds Hash and MultiHash).
"""

import functools
import json
import struct
from typing import Any

from . import murmur
from .errors import CosmosError, bad_request

UNDEFINED_COMPONENT: dict[str, Any] = {}  # how the wire spells the key of a document that has no such property
MAX_VALUE_BYTES = 2048  # "Azure Cosmos DB service quotas": partition key value, large partition keys on
_TOP_BITS_CLEARED = 0x3F  # ranges are cut over 126 bits: the service clears the two highest bits of each hash

_UNDEFINED, _NULL, _FALSE, _TRUE, _NUMBER, _STRING = b"\x00", b"\x01", b"\x02", b"\x03", b"\x05", b"\x08"
_STRING_END = b"\xff"


def canonical(components: list[Any]) -> str:
    """The one spelling of a partition key value (a JSON array): 1 and 1.0 are the same key. CosmosError if too long."""
    for component in components:
        if isinstance(component, str) and len(component.encode()) > MAX_VALUE_BYTES:
            raise too_long()
    numbers_as_one = [int(c) if isinstance(c, float) and c.is_integer() else c for c in components]
    return json.dumps(numbers_as_one, separators=(",", ":"), ensure_ascii=False)


def too_long() -> CosmosError:
    return bad_request(f"Partition key value is longer than the {MAX_VALUE_BYTES} bytes that are supported.")


@functools.lru_cache(maxsize=65_536)  # as many hot keys as one run touches, in a few megabytes
def effective(partition_key: str, hierarchical: bool) -> str:
    """Effective partition key (hex) of a canonical value. Hierarchical ones hash level by level: prefixes sort."""
    components = [_encode(component) for component in json.loads(partition_key)]
    return "".join(_hash(part) for part in (components if hierarchical else [b"".join(components)]))


def _hash(encoded: bytes) -> str:
    digest = bytearray(murmur.hash128(encoded))
    digest[0] &= _TOP_BITS_CLEARED
    return digest.hex().upper()


def _encode(component: Any) -> bytes:
    match component:
        case None:
            return _NULL
        case True:
            return _TRUE
        case False:
            return _FALSE
        case str():
            return _STRING + component.encode() + _STRING_END
        case int() | float():
            return _NUMBER + struct.pack("<d", float(component))
        case _:
            return _UNDEFINED
