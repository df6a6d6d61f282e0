"""A delivery with everything decided about it before any store is asked, and the judgement on a marker it meets."""

from dataclasses import dataclass
from datetime import datetime

from .delivery import Delivery
from .errors import FingerprintMismatch, IdentityMismatch, TransientFailure
from .fingerprint import Fingerprint
from .keys import DeduplicationKey
from .marker import TRANSITIONS, Marker, Told, Verdict, standing
from .outcome import Duplicate, Json, Outcome, Processed


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """One delivery on its way through a consumer."""

    delivery: Delivery
    """What came."""
    key: DeduplicationKey
    """What it is."""
    fingerprint: Fingerprint
    """What it says."""
    partition: str
    """Where its documents and its marker live."""
    marker_id: str
    """The document that carries its marker."""
    attempt_id: str
    """Tells our own commit from somebody else's."""

    def marker(self, result: Json, now: datetime) -> Marker:
        """The proof that this attempt did the work."""
        return Marker(
            key=self.key.digest,
            consumer=self.key.consumer,
            source=self.key.source,
            message_id=self.key.text,
            fingerprint=self.fingerprint,
            attempt_id=self.attempt_id,
            delivery_attempt=self.delivery.attempt,
            processed_at=now,
            result=result,
        )

    def judge(self, told: Told, marker: Marker | None) -> Outcome | None:
        """What a marker, or its absence, means for this delivery; None means run.

        Raises `FingerprintMismatch`, `IdentityMismatch`, or `TransientFailure` for a marker that was promised and is
        not to be seen.
        """
        seen = standing(marker, key=self.key, fingerprint=self.fingerprint, attempt_id=self.attempt_id)
        verdict = TRANSITIONS[told, seen]
        if verdict is Verdict.RUN:
            return None
        if marker is None:
            raise TransientFailure(f"A conflict promised marker {self.marker_id}, and a read does not show it.")
        match verdict:
            case Verdict.PROCESSED:
                return Processed(marker.result)
            case Verdict.DUPLICATE:
                return Duplicate(marker.result, marker.processed_at)
            case Verdict.FINGERPRINT_MISMATCH:
                raise FingerprintMismatch(
                    f"{self.key} was processed with content {marker.fingerprint}; this delivery carries "
                    f"{self.fingerprint}. Find out who reused the id."
                )
        raise IdentityMismatch(f"Document {self.marker_id} is there and was not written by {self.key}.")
