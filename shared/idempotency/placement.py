"""Where a marker lives: beside the documents, or in one of them. Either way it is the first operation of the commit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .delivery import Delivery
from .errors import IdentityMismatch
from .keys import DeduplicationKey
from .marker import FIELD, Marker
from .retention import RetentionWindow
from .unit_of_work import MARKER_PREFIX, Create, Document, Operation


class Placement(Protocol):
    """How a consumer stores its markers."""

    def marker_id(self, delivery: Delivery, key: DeduplicationKey) -> str:
        """Id of the document that carries the marker; the same for every delivery of a message."""
        ...

    def with_marker(self, marker_id: str, marker: Marker, staged: Sequence[Operation]) -> list[Operation]:
        """The operations to commit, marker first: a conflict on operation 0 is then a conflict on the marker."""
        ...


@dataclass(frozen=True, slots=True)
class InboxMarker:
    """A marker document beside the business documents; it expires on its own, they do not."""

    retention: RetentionWindow
    """How long the marker lives after its commit."""

    def marker_id(self, delivery: Delivery, key: DeduplicationKey) -> str:  # noqa: ARG002 - the port's signature
        return MARKER_PREFIX + key.digest

    def with_marker(self, marker_id: str, marker: Marker, staged: Sequence[Operation]) -> list[Operation]:
        body = {"id": marker_id, "type": "marker", FIELD: marker.to_json()}
        return [Create(marker_id, body, ttl=self.retention.seconds), *staged]


@dataclass(frozen=True, slots=True)
class EntityAsMarker:
    """The document that the message creates is its own marker: one document, one create, kept as long as the entity."""

    entity_id: Callable[[Delivery], str]
    """The created document's id, taken from what identifies the message. May raise a `Rejection`."""

    def marker_id(self, delivery: Delivery, key: DeduplicationKey) -> str:  # noqa: ARG002 - the port's signature
        return self.entity_id(delivery)

    def with_marker(self, marker_id: str, marker: Marker, staged: Sequence[Operation]) -> list[Operation]:
        """Raises `LookupError` when the handler did not create the entity: there would be nothing to mark."""
        for position, operation in enumerate(staged):
            if isinstance(operation, Create) and operation.id == marker_id:
                entity = Create(marker_id, {**operation.body, FIELD: marker.to_json()})
                return [entity, *staged[:position], *staged[position + 1 :]]
        raise LookupError(f"The handler did not create document {marker_id!r}, which should carry the marker.")


def marker_in(document: Document | None) -> Marker | None:
    """The marker that a document carries; None where there is no document.

    Raises `IdentityMismatch` for a document without a marker: something else than a message of this kind wrote it.
    """
    if document is None:
        return None
    if FIELD not in document.body:
        raise IdentityMismatch(f"Document {document.id} is there and carries no marker: no message wrote it.")
    return Marker.from_json(document.body[FIELD])
