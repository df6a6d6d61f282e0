"""One arrival of a message, told in the same words whatever broker brought it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

type Property = str | int | float | bool | bytes | None


def _no_properties() -> Mapping[str, Property]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One arrival of a message. The next arrival of the same message differs in `attempt` alone, never in identity."""

    source: str
    """Where ids are unique: the queue's or hub's name, a hub's partition, or a CloudEvent's `source`."""
    message_id: str | None
    """The producer's id, as it came; None when there was none. `DeduplicationKey` decides whether it is usable."""
    body: bytes = field(repr=False)
    """The payload, byte for byte. Empty is valid here; the consumer's parser decides."""
    attempt: int = 1
    """1 on the first delivery; above 1 the broker knows that it delivered this message before."""
    properties: Mapping[str, Property] = field(default_factory=_no_properties, repr=False)
    """Application properties set by the producer."""
    content_type: str | None = None
    """Media type of the body as the producer declared it."""
    subject: str | None = None
    """What the producer says the message is about (label, CloudEvents `type`)."""
    partition_key: str | None = None
    """What the producer made the broker keep together and in order."""
    session_id: str | None = None
    """Session the message belongs to, where the entity has sessions."""
    correlation_id: str | None = None
    """Ties messages of one conversation together. For logs only: never an identity."""
    enqueued_at: datetime | None = None
    """When the broker accepted this copy. For measuring lag only: never an identity."""
