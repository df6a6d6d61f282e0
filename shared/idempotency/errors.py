"""Whose fault it is and what happens next: the errors of the library.

Two families decide everything. A `Rejection` is the message's fault: no retry can help, it goes to the dead-letter
queue at once. A `TransientFailure` is nobody's fault: the same message is tried again and must never be dead-lettered
or taken for a duplicate. Any other exception is a programming error: it travels to the host, which delivers again.
"""

from enum import StrEnum


class Reason(StrEnum):
    """Why a message was rejected. A closed list: alerts and resubmission tools are written against it."""

    NO_STABLE_KEY = "NoStableKey"
    MALFORMED = "Malformed"
    IDENTITY_MISMATCH = "IdentityMismatch"
    FINGERPRINT_MISMATCH = "FingerprintMismatch"
    ALREADY_EXISTS = "AlreadyExists"
    TOO_LARGE = "TooLarge"
    REFUSED = "Refused"


class Rejection(Exception):
    """The message can never succeed. `description` is for a person to act on and never quotes the body."""

    reason: Reason

    def __init__(self, description: str) -> None:
        super().__init__(description)
        self.description = description


class NoStableKey(Rejection):
    """The message has nothing that would be the same on its next delivery."""

    reason = Reason.NO_STABLE_KEY


class Malformed(Rejection):
    """The body is not what the consumer reads; the description lists the places, not the values."""

    reason = Reason.MALFORMED


class IdentityMismatch(Rejection):
    """What the message is called and what it says it is about are two different things."""

    reason = Reason.IDENTITY_MISMATCH


class FingerprintMismatch(Rejection):
    """A known key came with other content: somebody reused an id. Alert."""

    reason = Reason.FINGERPRINT_MISMATCH


class AlreadyExists(Rejection):
    """The message creates a document that another message created before it."""

    reason = Reason.ALREADY_EXISTS


class TooLarge(Rejection):
    """The body, or the writes it causes, are beyond a limit that no retry will lift."""

    reason = Reason.TOO_LARGE


class Refused(Rejection):
    """A handler raises this when its business rules say no for good."""

    reason = Reason.REFUSED


class Superseded(Exception):
    """A handler raises this when a later message has overtaken this one: nothing is written, outcome `Stale`."""


class TransientFailure(Exception):
    """Try again later: throttling, an outage, contention. Never a duplicate, never a rejection."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """`retry_after`: seconds the other side asked us to wait; None when it did not say."""
        super().__init__(message)
        self.retry_after = retry_after


class Doubtful(TransientFailure):
    """A commit was sent and its answer was lost: it may have happened. Read the marker before deciding."""


class CommitConflict(Exception):
    """A commit was refused as a whole because one of its operations met another state. Nothing was written."""

    def __init__(self, message: str, *, index: int, bookmark: str | None = None) -> None:
        """`index`: the operation that failed. `bookmark`: pass it to `Store.read` to see at least what refused us."""
        super().__init__(message)
        self.index = index
        self.bookmark = bookmark


class Conflict(CommitConflict):
    """A create met a document that is there already."""


class PreconditionFailed(CommitConflict):
    """A replace or delete met another etag, or nothing."""
