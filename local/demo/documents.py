"""What is found in the database, and what it proves."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Effect:
    """One thing that a message has to cause, by what it says and not by its id."""

    kind: str
    """The type of the document that proves it, such as order, movement or marker."""
    partition: str
    """The value of the document's partition key."""
    content: str
    """What the message asked for, as far as a wrong document would differ."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was found."""

    container: str
    """Where."""
    partition: str
    """The value of its partition key."""
    content: Mapping[str, Any]
    """All of it."""


def marker_effects(document: Document) -> list[Effect]:
    """What the marker in a document proves, alone or beside the business; nothing when there is none."""
    marker = document.content.get("marker")
    return [Effect("marker", document.partition, str(marker["messageId"]))] if marker else []


def by_kind(effects: Counter[Effect]) -> dict[str, int]:
    """How many there are of each kind, in the order of their names."""
    kinds: Counter[str] = Counter()
    for effect, count in effects.items():
        kinds[effect.kind] += count
    return dict(sorted(kinds.items()))
