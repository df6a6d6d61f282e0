"""What a handler stages, and the port through which a store commits it.

`UnitOfWork` is all a handler sees of the database: read a document, stage writes. The writes are committed together
with the marker, in one partition, or not at all. `Store` is what a database must offer for that; one contract suite
holds every store to it.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

MARKER_PREFIX = "marker-"
"""Ids that begin so belong to markers; handlers cannot touch them."""
_FORBIDDEN_IN_IDS = "/\\#?"
"""Characters that create but cannot be read back (Microsoft Learn, "Azure Cosmos DB service quotas")."""
_MAX_ID_BYTES = 255
"""Stricter than Cosmos DB's 1,023 bytes, so that one handler fits every store."""

type Body = Mapping[str, Any]
"""A document as JSON members; `id` is one of them."""


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document as a store read it."""

    id: str
    """Unique within its partition."""
    body: Body
    """The members that were written, without the store's own."""
    etag: str
    """Changes with every write of the document."""


@dataclass(frozen=True, slots=True)
class Create:
    """Write a document that must not be there yet."""

    id: str
    body: Body
    ttl: int | None = None
    """Seconds after which the document is gone; None keeps it for ever."""


@dataclass(frozen=True, slots=True)
class Upsert:
    """Write a document whether or not it is there."""

    id: str
    body: Body


@dataclass(frozen=True, slots=True)
class Replace:
    """Overwrite the version of a document that was read."""

    id: str
    body: Body
    etag: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the version of a document that was read."""

    id: str
    etag: str


type Operation = Create | Upsert | Replace | Delete


class Store(Protocol):
    """A database with atomic writes inside one partition."""

    async def read(self, partition: str, id: str, *, bookmark: str | None = None) -> Document | None:
        """The document, or None when it is absent or has expired, whatever the database's clean-up is up to.

        `bookmark` comes from a failed commit: the read sees at least what that commit met.
        Raises `TransientFailure`.
        """
        ...

    async def read_many(
        self, partition: str, ids: Sequence[str], *, bookmark: str | None = None
    ) -> Mapping[str, Document]:
        """Those of the documents that are there, by id, in one request; otherwise as `read`. At most 100 ids."""
        ...

    async def commit(self, partition: str, operations: Sequence[Operation]) -> None:
        """Apply all operations in order, or none.

        Raises `Conflict` or `PreconditionFailed` with the index of the operation that failed, `TooLarge` before
        anything is sent, `Doubtful` when the answer was lost, `TransientFailure` for the rest that time may heal.
        """
        ...


class UnitOfWork:
    """The writes of one message, or of several that share a commit. A handler stages; the consumer commits."""

    def __init__(self, store: Store, partition: str, *, bookmark: str | None = None) -> None:
        """`bookmark`: from the commit that failed before this one, so that reads see what it met."""
        self._store = store
        self._partition = partition
        self._bookmark = bookmark
        self._read: dict[str, Document | None] = {}
        self._staged: dict[str, Operation] = {}

    @property
    def operations(self) -> list[Operation]:
        """What has been staged, in order, one operation a document."""
        return list(self._staged.values())

    async def get(self, id: str) -> dict[str, Any] | None:
        """A document of this partition as it will be after what is staged so far, or None. Yours to change."""
        match self._staged.get(_document_id(id)):
            case Create(body=body) | Upsert(body=body) | Replace(body=body):
                return _copy(body)
            case Delete():
                return None
        if id not in self._read:
            self._read[id] = await self._store.read(self._partition, id, bookmark=self._bookmark)
        document = self._read[id]
        return None if document is None else _copy(document.body)

    def create(self, document: Body) -> None:
        """Stage a new document; a document already there is a business conflict, and the handler runs again."""
        id = _document_id(document["id"])
        match self._staged.get(id):
            case None:
                self._staged[id] = Create(id, _copy(document))
            case Delete(etag=etag):
                self._staged[id] = Replace(id, _copy(document), etag)
            case _:
                raise ValueError(f"Document {id!r} is staged already: replace it instead of creating it twice.")

    def upsert(self, document: Body) -> None:
        """Stage a document over whatever is there. The last writer wins: for documents nobody else changes."""
        id = _document_id(document["id"])
        match self._staged.get(id):
            case Create():
                self._staged[id] = Create(id, _copy(document))
            case Replace(etag=etag) | Delete(etag=etag):
                self._staged[id] = Replace(id, _copy(document), etag)
            case _:
                self._staged[id] = Upsert(id, _copy(document))

    def replace(self, document: Body) -> None:
        """Stage a new version of a document that `get` returned; somebody else's change in between is a conflict."""
        id = _document_id(document["id"])
        match self._staged.get(id):
            case Create():
                self._staged[id] = Create(id, _copy(document))
            case Upsert():
                self._staged[id] = Upsert(id, _copy(document))
            case Replace(etag=etag):
                self._staged[id] = Replace(id, _copy(document), etag)
            case Delete():
                raise ValueError(f"Document {id!r} is staged for deletion: create it instead of replacing it.")
            case None:
                self._staged[id] = Replace(id, _copy(document), self._etag_of(id))

    def delete(self, id: str) -> None:
        """Stage the removal of a document that `get` returned."""
        match self._staged.get(_document_id(id)):
            case None:
                self._staged[id] = Delete(id, self._etag_of(id))
            case Create():
                del self._staged[id]
            case Replace(etag=etag):
                self._staged[id] = Delete(id, etag)
            case _:
                raise ValueError(f"Document {id!r} is staged in a way that cannot be deleted in the same commit.")

    def _etag_of(self, id: str) -> str:
        document = self._read.get(id)
        if document is None:
            raise LookupError(f"Document {id!r} was not read: get it before you replace or delete it.")
        return document.etag


def _copy(body: Body) -> dict[str, Any]:
    """All the way down: what a handler changes in what it got, or after staging it, is not what is committed."""
    return copy.deepcopy(dict(body))


def _document_id(id: object) -> str:
    """A usable document id. `ValueError` says what is wrong: a handler's fault, found before anything is sent."""
    if not isinstance(id, str) or not id:
        raise ValueError(f"A document's id is a non-empty string, not {id!r}.")
    if any(character in _FORBIDDEN_IN_IDS for character in id):
        raise ValueError(f"Document id {id!r} contains one of {_FORBIDDEN_IN_IDS}: use a digest or an encoding.")
    if len(id.encode()) > _MAX_ID_BYTES:
        raise ValueError(f"Document id {id[:40]!r}… is longer than {_MAX_ID_BYTES} bytes: use a digest.")
    if id.startswith(MARKER_PREFIX):
        raise ValueError(f"Document ids that begin with {MARKER_PREFIX!r} belong to markers.")
    return id
