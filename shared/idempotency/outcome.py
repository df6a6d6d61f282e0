"""How a delivery ended. A closed set: transports map it to a settlement in exactly one place.

Failures that should be retried are not outcomes; they are raised (`TransientFailure`, programming errors).
"""

from dataclasses import dataclass
from datetime import datetime

from .errors import Reason

type Json = str | int | float | bool | list[Json] | dict[str, Json] | None
"""A value that JSON can carry."""


@dataclass(frozen=True, slots=True)
class Processed:
    """This delivery did the work: its writes and its marker are committed."""

    result: Json
    """What the handler returned; every duplicate gets the same."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The work was done before, with the same content. Nothing was written."""

    result: Json
    """What the handler returned the first time."""
    processed_at: datetime
    """When the original was committed."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A later message has overtaken this one, the handler says. Nothing was written."""

    description: str
    """Why, in the handler's words."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The message can never succeed. Nothing was written; it belongs in the dead-letter queue."""

    reason: Reason
    """From the closed list."""
    description: str
    """What a person needs to act; never the body."""


type Outcome = Processed | Duplicate | Stale | Rejected
