"""Names that people give (ids) and names that the service gives (resource ids, etags)."""

import base64
import itertools
import os
import struct
from typing import Any

from .errors import bad_request

MAX_ITEM_ID_BYTES = 1023  # "Azure Cosmos DB service quotas": maximum length of an item id
MAX_RESOURCE_ID_BYTES = 255  # the same page: database and container names
FORBIDDEN_IN_ID = "/\\?#"

_DATABASE_MARK, _CONTAINER_MARK = 0x40000000, 0x80000000  # keeps the two kinds of resource id apart
_DATABASE_BYTES = 4


def item_id(document: Any) -> str:
    """The id of a document about to be written. CosmosError 400 if the service would not take it."""
    return _checked(document, MAX_ITEM_ID_BYTES)


def resource_id(definition: Any) -> str:
    """The name of a database or container about to be made. CosmosError 400 if the service would not take it."""
    return _checked(definition, MAX_RESOURCE_ID_BYTES)


def _checked(body: Any, limit: int) -> str:
    if not isinstance(body, dict):
        raise bad_request("The input content is invalid: a JSON object was expected.")
    match body.get("id"):
        case str(value) if value:
            pass
        case _:
            raise bad_request("The input content is invalid because the required properties - 'id; ' - are missing")
    if any(mark in value for mark in FORBIDDEN_IN_ID):
        raise bad_request("Id contains illegal chars: '/', '\\', '?' and '#' are not allowed.")
    if len(value.encode("utf-8", "surrogatepass")) > limit:
        raise bad_request(f"Id is longer than the {limit} bytes that are supported.")
    return value


def new_database_rid() -> str:
    return _text(struct.pack(">I", _DATABASE_MARK | _random24()))


def new_container_rid(database_rid: str) -> str:
    return _text(_raw(database_rid) + struct.pack(">I", _CONTAINER_MARK | _random24()))


def document_rid(container_rid: str, number: int) -> str:
    return _text(_raw(container_rid) + struct.pack("<Q", number))


def document_number(rid: str) -> int:
    """The running number inside a document's resource id. CosmosError 400 if it is none."""
    try:
        return int(struct.unpack("<Q", _raw(rid)[8:])[0])
    except (ValueError, struct.error):
        raise bad_request("The resource id in the request path is malformed.") from None


def is_database_rid(segment: str) -> bool:
    """Whether a path is addressed by resource ids (`_self` links) instead of names."""
    try:
        return segment.endswith("==") and len(_raw(segment)) == _DATABASE_BYTES
    except ValueError:
        return False


def _random24() -> int:
    return int.from_bytes(os.urandom(3), "big")


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode().replace("/", "-")


def _raw(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "/"), validate=True)


class Etags:
    """Etags that never come twice: a random part for this start of the process and a running number."""

    def __init__(self) -> None:
        self._start = os.urandom(4).hex()
        self._numbers = itertools.count(1)

    def next(self) -> str:
        return f'"{self._start}-0000-0100-0000-{next(self._numbers):012x}"'
