"""One operation on one item, inside a transaction that somebody else began: the rules of the service."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from . import patch
from .clock import Clock
from .container import MISSING, Container, Document, check_ttl, value_at
from .errors import bad_request, conflict, not_found, precondition_failed, too_large, wrong_partition_key
from .identifiers import Etags, item_id
from .item import SYSTEM_PROPERTIES, Item, compact
from .items import Items

MAX_ITEM_BYTES = 2 * 1024 * 1024  # "Azure Cosmos DB service quotas": maximum size of an item
ANY_ETAG = "*"
_MISMATCH = (
    "PartitionKey extracted from document doesn't match the one specified in the header. "
    "Learn more: https://aka.ms/CosmosDB/sql/errors/wrong-pk-value"
)


class Kind(StrEnum):
    """What an operation does; the names are those of the wire."""

    CREATE = "Create"
    UPSERT = "Upsert"
    REPLACE = "Replace"
    PATCH = "Patch"
    DELETE = "Delete"
    READ = "Read"


@dataclass(frozen=True, slots=True)
class Operation:
    """What a client asks for."""

    kind: Kind
    id: str | None = None  # the item addressed; None where the document itself says it
    document: Any = None  # the new content, or the patch
    if_match: str | None = None  # act only on this etag
    if_none_match: str | None = None  # do not act on this etag


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of it."""

    status: int
    item: Item | None  # as it is now; None after a delete


class Operations:
    """Applies operations to the table of items."""

    def __init__(self, items: Items, clock: Clock, etags: Etags) -> None:
        self._items = items
        self._clock = clock
        self._etags = etags

    def apply(self, container: Container, partition_key: str, operation: Operation, lsn: int) -> Applied:
        """Raise CosmosError where the service refuses; the caller's transaction must then be undone."""
        target = operation.id
        if operation.kind in (Kind.CREATE, Kind.UPSERT, Kind.REPLACE):
            own_id = item_id(operation.document)
            if container.partition_key_of(operation.document) != partition_key:
                raise wrong_partition_key(_MISMATCH)
            if operation.kind is not Kind.REPLACE or target is None:
                target = own_id
        if target is None:
            raise bad_request("The operation does not say which item it is for.")
        found = self._items.get(container, partition_key, target)
        match operation.kind:
            case Kind.CREATE:
                if found is not None:
                    raise conflict()
                return Applied(201, self._write(container, partition_key, operation.document, None, lsn))
            case Kind.UPSERT:
                _check_etag(found, operation)
                written = self._write(container, partition_key, operation.document, found, lsn)
                return Applied(201 if found is None else 200, written)
        if found is None:
            raise not_found()
        if operation.kind is Kind.READ:
            unchanged = operation.if_none_match in (found.etag, ANY_ETAG)
            return Applied(304 if unchanged else 200, found)
        _check_etag(found, operation)
        match operation.kind:
            case Kind.REPLACE:
                return Applied(200, self._replace(container, found, operation.document, lsn))
            case Kind.PATCH:
                document = patch.patched(container, found, operation.document)
                return Applied(200, self._write(container, partition_key, document, found, lsn))
        self._items.remove(container, partition_key, target)
        return Applied(204, None)

    def _replace(self, container: Container, old: Item, document: Document, lsn: int) -> Item:
        if document["id"] != old.id:  # the service lets a replace rename the item
            if self._items.get(container, old.partition_key, document["id"]) is not None:
                raise conflict()
            self._items.remove(container, old.partition_key, old.id)
        return self._write(container, old.partition_key, document, old, lsn)

    def _write(self, container: Container, partition_key: str, body: Document, old: Item | None, lsn: int) -> Item:
        document = {name: value for name, value in body.items() if name not in SYSTEM_PROPERTIES}
        _check_item_ttl(document)
        item = Item(
            partition_key=partition_key,
            id=document["id"],
            range_id=container.range_of(partition_key).id,
            effective_key=container.effective_key(partition_key),
            number=self._items.next_number() if old is None else old.number,
            version=self._items.next_version(),
            lsn=lsn,
            written_at=self._clock.now(),
            ttl=document.get("ttl"),
            etag=self._etags.next(),
            body=compact(document),
        )
        if item.size > MAX_ITEM_BYTES:
            raise too_large()
        unique = self._unique_values(container, item, document)
        self._items.put(container, item)
        for key, value in enumerate(unique):
            self._items.remember_unique(container, partition_key, key, value, item.id)
        return item

    def _unique_values(self, container: Container, item: Item, document: Document) -> list[str]:
        values = []
        for key, paths in enumerate(container.unique_keys):
            parts = [value_at(document, path) for path in paths]
            value = compact([None if part is MISSING else part for part in parts])  # absent and null are one value
            holder = self._items.holder_of_unique(container, item.partition_key, key, value)
            if holder is not None and holder.number != item.number:
                raise conflict("Unique index constraint violation.")
            values.append(value)
        return values


def _check_etag(found: Item | None, operation: Operation) -> None:
    if found is None:
        return
    if operation.if_match not in (None, ANY_ETAG, found.etag) or operation.if_none_match in (ANY_ETAG, found.etag):
        raise precondition_failed()


def _check_item_ttl(document: Document) -> None:
    complaint = f"The input ttl '{document.get('ttl')}' is invalid. "
    if "ttl" in document and document["ttl"] is None:
        raise bad_request(f"{complaint}Ensure to provide a nonzero positive integer or -1.")
    check_ttl(document.get("ttl"), complaint)
