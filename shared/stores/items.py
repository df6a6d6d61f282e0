"""What goes into a database and what comes out: checked, completed and measured before anything is sent.

Shared by the stores, so that the one in memory refuses exactly what Cosmos DB would refuse.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..idempotency import Create, Delete, Document, Operation, Replace, TooLarge, Upsert

_MEBIBYTE = 1024 * 1024
_MAX_PARTITION_BYTES = 2048
"""Longest partition key value (Microsoft Learn, "Azure Cosmos DB service quotas")."""
_MAX_ID_BYTES = 1023
"""Longest document id (the same page)."""
_FORBIDDEN_IN_IDS = "/\\#?"
"""Characters that create but cannot be read back (the same page)."""
_MAX_TTL = 2**31 - 1
"""Longest time to live in seconds (Microsoft Learn, "Time to Live (TTL) in Azure Cosmos DB")."""
_MAX_EXACT_INTEGER = 2**53
"""Beyond it Cosmos DB changes integers: it keeps numbers as IEEE 754 doubles (Microsoft Learn, "JSON in Cosmos DB")."""
_MOST_IDS = 100
"""As many as a commit can write; a page of a query returns as many."""
_ENVELOPE_BYTES = 512
"""What an operation adds to the request beside its id and its document, generously: kind, etag, punctuation."""

_TTL = "ttl"
_STORE_MEMBERS = frozenset({"_rid", "_self", "_etag", "_ts", "_attachments", "_lsn", _TTL})
"""Members of a stored document that belong to the store."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one commit may carry. The defaults are those of Cosmos DB ("Transactional batch operations")."""

    operations: int = 100
    """Operations in a commit, the marker included."""
    request_bytes: int = 2 * _MEBIBYTE
    """The whole request as UTF-8 JSON."""
    item_bytes: int = 2 * _MEBIBYTE
    """One document as UTF-8 JSON."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document as it is stored."""

    body: dict[str, Any]
    """Its members, with the partition and the time to live."""
    text: str
    """The same as compact JSON."""
    size: int
    """Bytes of the text as UTF-8."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What one container accepts."""

    partition_property: str
    """The member that names a document's partition; the store writes it, so that nobody can disagree."""
    limits: Limits

    def items(self, partition: str, operations: Sequence[Operation]) -> list[Item | None]:
        """The documents that the operations write, in order; None for a delete.

        Raises `TooLarge` for what no retry can make fit, `ValueError` or `TypeError` for what a programmer must mend.
        """
        check_partition(partition)
        if not operations:
            raise ValueError("A commit has at least one operation.")
        if len(operations) > self.limits.operations:
            raise TooLarge(f"The commit has {len(operations)} operations; one commit takes {self.limits.operations}.")
        items = [self._item(partition, operation) for operation in operations]
        total = sum(_request_bytes(operation, item) for operation, item in zip(operations, items, strict=True))
        if total > self.limits.request_bytes:
            raise TooLarge(
                f"The commit measures {total} bytes with its envelope; one commit takes {self.limits.request_bytes}."
            )
        return items

    def _item(self, partition: str, operation: Operation) -> Item | None:
        check_id(operation.id)
        match operation:
            case Delete():
                return None
            case Create(ttl=ttl):
                body = self._completed(partition, operation, ttl)
            case Upsert() | Replace():
                body = self._completed(partition, operation, None)
        _check_json(body, "")
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        size = len(text.encode())
        if size > self.limits.item_bytes:
            raise TooLarge(
                f"Document {operation.id} measures {size} bytes; one document takes {self.limits.item_bytes}."
            )
        return Item(body, text, size)

    def _completed(self, partition: str, operation: Create | Upsert | Replace, ttl: int | None) -> dict[str, Any]:
        body = dict(operation.body)
        if body.setdefault("id", operation.id) != operation.id:
            raise ValueError(f"Document {operation.id!r} carries another id in its body.")
        if body.setdefault(self.partition_property, partition) != partition:
            raise ValueError(f"Document {operation.id!r} carries another {self.partition_property} than its partition.")
        if reserved := sorted(_STORE_MEMBERS.intersection(body)):
            raise ValueError(f"Document {operation.id!r} carries members that belong to the store: {reserved}.")
        if ttl is not None:
            if type(ttl) is not int or not 1 <= ttl <= _MAX_TTL:
                raise ValueError(f"A time to live is 1 to {_MAX_TTL} whole seconds, not {ttl!r}.")
            body[_TTL] = ttl
        return body


def document_of(item: Mapping[str, Any], etag: str) -> Document:
    """A stored document without the store's own members."""
    return Document(item["id"], {name: value for name, value in item.items() if name not in _STORE_MEMBERS}, etag)


def has_expired(item: Mapping[str, Any], written_at: int, now: float) -> bool:
    """Whether a document's own time to live has passed. `written_at` and `now` are seconds since 1970, UTC."""
    ttl = item.get(_TTL)
    return ttl is not None and ttl >= 0 and written_at + ttl <= now


def check_partition(partition: str) -> None:
    """Raises `TooLarge` for a partition key that the database does not take, `ValueError` for none at all."""
    if not partition:
        raise ValueError("A partition is a non-empty string: everything without one would share one partition.")
    if (size := len(partition.encode())) > _MAX_PARTITION_BYTES:
        raise TooLarge(f"The partition key measures {size} bytes; the database takes {_MAX_PARTITION_BYTES}.")


def check_id(id: str) -> None:
    """Raises `ValueError` for an id that could be written but not read back, or not even written."""
    if not id:
        raise ValueError("A document's id is a non-empty string.")
    if any(character in _FORBIDDEN_IN_IDS for character in id):
        raise ValueError(f"Document id {id!r} contains one of {_FORBIDDEN_IN_IDS}: use a digest or an encoding.")
    if (size := len(id.encode())) > _MAX_ID_BYTES:
        raise ValueError(f"Document id {id[:40]!r}… measures {size} bytes; the database takes {_MAX_ID_BYTES}.")


def check_ids(partition: str, ids: Sequence[str]) -> None:
    """Raises as `check_partition` and `check_id` do, and `ValueError` for none or for more than one request takes."""
    check_partition(partition)
    if not 1 <= len(ids) <= _MOST_IDS:
        raise ValueError(f"One request reads 1 to {_MOST_IDS} documents, not {len(ids)}.")
    for id in ids:
        check_id(id)


def _request_bytes(operation: Operation, item: Item | None) -> int:
    return (item.size if item else 0) + len(operation.id.encode()) + _ENVELOPE_BYTES


def _check_json(value: object, place: str) -> None:
    """Refuse what would come back as something else. The place is told, never the value."""
    match value:
        case None | bool() | str():
            pass
        case int():
            if abs(value) > _MAX_EXACT_INTEGER:
                raise ValueError(
                    f"The integer at {place} is beyond 2^53 and would come back changed: write it as text."
                )
        case float():
            if not math.isfinite(value):
                raise ValueError(f"The number at {place} is not finite: JSON has no such number.")
        case list() | tuple():
            for position, element in enumerate(value):
                _check_json(element, f"{place}[{position}]")
        case dict():
            for name, member in value.items():
                if not isinstance(name, str):
                    raise TypeError(f"A member's name at {place or 'the top'} is not a string.")
                _check_json(member, f"{place}.{name}" if place else name)
        case _:
            raise TypeError(f"The {type(value).__name__} at {place} is nothing that JSON can carry.")
