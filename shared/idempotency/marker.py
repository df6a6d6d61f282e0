"""The durable proof that a key was finished, and the table that says what seeing one means."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from .fingerprint import Fingerprint
from .keys import DeduplicationKey
from .outcome import Json

FIELD = "marker"
"""The member of a document that carries a marker: alone in an inbox marker, beside the business in an entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Proof that one key was processed, by which attempt, with which content and what result."""

    key: str
    """Digest of the `DeduplicationKey`."""
    consumer: str
    """The consumer's name, for people and queries."""
    source: str
    """Where the identity is unique, for people and queries."""
    message_id: str
    """The raw identity, for people and queries."""
    fingerprint: Fingerprint
    """What the message said; compared on every path."""
    attempt_id: str
    """Made anew for every delivery taken in: tells our own commit from somebody else's when an answer was lost."""
    delivery_attempt: int
    """The broker's delivery count when the work was done."""
    processed_at: datetime
    """When the work was done, UTC."""
    result: Json
    """What the handler returned."""

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        return {
            "key": self.key,
            "consumer": self.consumer,
            "source": self.source,
            "messageId": self.message_id,
            "fingerprint": str(self.fingerprint),
            "attemptId": self.attempt_id,
            "deliveryAttempt": self.delivery_attempt,
            "processedAt": self.processed_at.isoformat(),
            "result": self.result,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Marker":
        """Read what `to_json` wrote. Raises `KeyError` or `ValueError` for anything else."""
        return cls(
            key=stored["key"],
            consumer=stored["consumer"],
            source=stored["source"],
            message_id=stored["messageId"],
            fingerprint=Fingerprint.from_text(stored["fingerprint"]),
            attempt_id=stored["attemptId"],
            delivery_attempt=stored["deliveryAttempt"],
            processed_at=datetime.fromisoformat(stored["processedAt"]),
            result=stored["result"],
        )


class Standing(StrEnum):
    """What stands where the marker belongs, seen from one attempt."""

    ABSENT = "absent"
    OURS = "ours"
    SAME = "same"
    OTHER = "other"
    FOREIGN = "foreign"


class Told(StrEnum):
    """Why we look."""

    REDELIVERED = "redelivered"
    CONFLICT = "conflict"
    DOUBT = "doubt"


class Verdict(StrEnum):
    """What follows."""

    RUN = "run"
    PROCESSED = "processed"
    DUPLICATE = "duplicate"
    FINGERPRINT_MISMATCH = "fingerprint mismatch"
    IDENTITY_MISMATCH = "identity mismatch"
    LOOK_AGAIN = "look again"


_WHAT_STANDS = {
    Standing.OURS: Verdict.PROCESSED,
    Standing.SAME: Verdict.DUPLICATE,
    Standing.OTHER: Verdict.FINGERPRINT_MISMATCH,
    Standing.FOREIGN: Verdict.IDENTITY_MISMATCH,
}
TRANSITIONS: Mapping[tuple[Told, Standing], Verdict] = {
    (told, standing): verdict for told in Told for standing, verdict in _WHAT_STANDS.items()
} | {
    (Told.REDELIVERED, Standing.ABSENT): Verdict.RUN,
    # Nothing was committed. Should the lost commit land after all, our next one meets it: same attempt id.
    (Told.DOUBT, Standing.ABSENT): Verdict.RUN,
    # A conflict promised a marker that a read does not show: a lagging replica or one expiring just now. Never "new".
    (Told.CONFLICT, Standing.ABSENT): Verdict.LOOK_AGAIN,
}


def standing(marker: Marker | None, *, key: DeduplicationKey, fingerprint: Fingerprint, attempt_id: str) -> Standing:
    """How a marker that was read stands to this attempt. The attempt id comes first: our own is never a duplicate."""
    if marker is None:
        return Standing.ABSENT
    if marker.key != key.digest:
        return Standing.FOREIGN
    if marker.attempt_id == attempt_id:
        return Standing.OURS
    return Standing.SAME if marker.fingerprint == fingerprint else Standing.OTHER
