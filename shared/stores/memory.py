"""The reference store: what the port means, in one process and without a database.

For the tests of those who use the library, and as the measure that the contract suite holds every other store to. It
is as strict as Cosmos DB: same limits, same refusals, documents copied in and out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..idempotency import (
    Clock,
    Conflict,
    Create,
    Delete,
    Document,
    Hook,
    Operation,
    PreconditionFailed,
    Replace,
    StoreCall,
    SystemClock,
    Upsert,
    silent,
)
from .items import Intake, Item, Limits, check_id, check_ids, check_partition, document_of, has_expired

_OK, _NOT_FOUND, _CONFLICT, _PRECONDITION_FAILED = 200, 404, 409, 412
"""Cosmos DB's status codes, so that telemetry reads the same over either store."""


@dataclass(frozen=True, slots=True)
class _Version:
    """One version of a document."""

    text: str
    """The document as JSON: whoever reads it gets an own copy."""
    etag: str
    """Never the same twice."""
    written_at: int
    """Whole seconds since 1970, UTC: what a time to live counts from."""


@dataclass(slots=True)
class MemoryStore:
    """A `Store` that forgets everything when the process ends. For one event loop; a commit never awaits half-way."""

    partition_property: str
    """The member that names a document's partition, such as `orderId`. The store writes it into every document."""
    clock: Clock = field(default_factory=SystemClock)
    """Judges expiry."""
    hook: Hook = silent
    """Told of every call that reached the documents."""
    container: str = "memory"
    """How the store is called in events."""
    limits: Limits = field(default_factory=Limits)
    """How much one commit may carry."""
    _partitions: dict[str, dict[str, _Version]] = field(init=False, default_factory=dict)
    _revision: int = field(init=False, default=0)

    async def read(self, partition: str, id: str, *, bookmark: str | None = None) -> Document | None:  # noqa: ARG002 - there is one copy: a read always sees everything
        check_partition(partition)
        check_id(id)
        version = self._living(self._partitions.get(partition, {}), id)
        self._report("read", _OK if version else _NOT_FOUND)
        return document_of(json.loads(version.text), version.etag) if version else None

    async def read_many(
        self,
        partition: str,
        ids: Sequence[str],
        *,
        bookmark: str | None = None,  # noqa: ARG002 - as in `read`
    ) -> Mapping[str, Document]:
        check_ids(partition, ids)
        documents = self._partitions.get(partition, {})
        living = {id: version for id in ids if (version := self._living(documents, id))}
        self._report("read_many", _OK)
        return {id: document_of(json.loads(version.text), version.etag) for id, version in living.items()}

    async def commit(self, partition: str, operations: Sequence[Operation]) -> None:
        items = Intake(self.partition_property, self.limits).items(partition, operations)
        documents = dict(self._partitions.get(partition, {}))
        for index, (operation, item) in enumerate(zip(operations, items, strict=True)):
            self._apply(documents, index, operation, item)
        self._partitions[partition] = documents
        self._report("commit", _OK)

    def _apply(self, documents: dict[str, _Version], index: int, operation: Operation, item: Item | None) -> None:
        current = self._living(documents, operation.id)
        match operation:
            case Create():
                if current:
                    self._report("commit", _CONFLICT)
                    raise Conflict(f"{operation.id} is there already.", index=index, bookmark=str(self._revision))
            case Replace(etag=etag) | Delete(etag=etag):
                if current is None or current.etag != etag:
                    self._report("commit", _PRECONDITION_FAILED if current else _NOT_FOUND)
                    raise PreconditionFailed(
                        f"{operation.id} is not the version that was read.", index=index, bookmark=str(self._revision)
                    )
            case Upsert():
                pass
        if item is None:
            del documents[operation.id]
        else:
            self._revision += 1
            documents[operation.id] = _Version(item.text, str(self._revision), int(self.clock.now().timestamp()))

    def _living(self, documents: Mapping[str, _Version], id: str) -> _Version | None:
        version = documents.get(id)
        if version is None:
            return None
        stored: dict[str, Any] = json.loads(version.text)
        return None if has_expired(stored, version.written_at, self.clock.now().timestamp()) else version

    def _report(self, operation: str, status: int) -> None:
        self.hook(
            StoreCall(
                operation=operation,
                container=self.container,
                status=status,
                request_charge=0.0,
                started_at=self.clock.now(),
                seconds=0.0,
            )
        )
