"""The ledger: what was found in the broker and the database, held against what the plan says has to be there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from local.stack import QueueStatistics, RequestRecord

from .plan import REJECTIONS, Fate, Plan
from .retail import Effect

ONE_ROUND_TRIP = 1.0
"""A first delivery commits without reading first."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was found."""

    container: str
    """Where."""
    partition: str
    """The value of its partition key."""
    content: Mapping[str, Any]
    """All of it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the broker and the database say after the run. Nothing here comes from the app."""

    queues: Sequence[QueueStatistics]
    """The broker's counters."""
    dead_letter_reasons: Counter[str]
    """Of the messages in the dead-letter queues."""
    documents: Sequence[Document]
    """All documents of all containers."""
    requests: Sequence[RequestRecord]
    """What the database was asked, in order within a container."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The result of a run; the fields are the keys of ledger.json."""

    sent: int
    """Messages that the broker was given."""
    distinct: int
    """Messages among them that have to take effect."""
    dropped_by_broker: int
    """Dropped by duplicate detection."""
    deliveries: int
    """Handed to the app, repeats included."""
    processed: int
    """Markers found."""
    duplicates: int
    """Deliveries that were completed and made no marker."""
    dead_lettered: dict[str, int]
    """Dead-lettered messages by reason."""
    documents: dict[str, int]
    """Documents found by kind."""
    expected: dict[str, int]
    """Documents expected by kind."""
    lost: int
    """Expected effects that were not found."""
    doubled: int
    """Effects found that were not expected, or not so often."""
    store_round_trips_per_new_message: float
    """Database requests for a message handled at its first delivery, up to its commit; 1.0 is the least possible."""

    def as_json(self) -> dict[str, Any]:
        """As written to ledger.json."""
        return asdict(self)


def reckon(plan: Plan, evidence: Evidence) -> Ledger:
    """Draw the balance."""
    expected = plan.effects
    found = Counter(effect for document in evidence.documents for effect in effects_of(document))
    processed = sum(count for effect, count in found.items() if effect.kind == "marker")
    return Ledger(
        sent=sum(queue.sent for queue in evidence.queues),
        distinct=plan.fates()[Fate.PROCESSED],
        dropped_by_broker=sum(queue.dropped_as_duplicate for queue in evidence.queues),
        deliveries=sum(queue.deliveries for queue in evidence.queues),
        processed=processed,
        duplicates=sum(queue.completed for queue in evidence.queues) - processed,
        dead_lettered=dict(sorted(evidence.dead_letter_reasons.items())),
        documents=_by_kind(found),
        expected=_by_kind(expected),
        lost=(expected - found).total(),
        doubled=(found - expected).total(),
        store_round_trips_per_new_message=_round_trips(evidence),
    )


def rows(plan: Plan, ledger: Ledger) -> list[tuple[str, float, float | None]]:
    """The ledger as (what, found, expected) in reading order; nothing is expected of the number of deliveries."""
    fates = plan.fates()
    reasons = sorted({*ledger.dead_lettered, *(fate for fate in REJECTIONS if fates[fate])})
    kinds = sorted({*ledger.documents, *ledger.expected})
    return [
        ("messages sent", ledger.sent, fates.total()),
        ("dropped by the broker", ledger.dropped_by_broker, fates[Fate.DROPPED]),
        ("deliveries", ledger.deliveries, None),
        ("processed", ledger.processed, fates[Fate.PROCESSED]),
        ("duplicates absorbed", ledger.duplicates, fates[Fate.ABSORBED]),
        *((f"dead-lettered {each}", ledger.dead_lettered.get(each, 0), _planned(fates, each)) for each in reasons),
        *((f"documents {each}", ledger.documents.get(each, 0), ledger.expected.get(each, 0)) for each in kinds),
        ("lost", ledger.lost, 0),
        ("doubled", ledger.doubled, 0),
        ("store round trips per new message", ledger.store_round_trips_per_new_message, ONE_ROUND_TRIP),
    ]


def differences(plan: Plan, ledger: Ledger) -> list[str]:
    """What is not as it has to be, one sentence each; empty when all is well."""
    return [
        f"{what}: {found:g} found, {expected:g} expected"
        for what, found, expected in rows(plan, ledger)
        if expected is not None and found != expected
    ]


def effects_of(document: Document) -> list[Effect]:
    """What a document proves. An entity that carries its own marker proves two things."""
    content = document.content
    kind = str(content.get("type"))
    effects = []
    match kind:
        case "marker":
            pass
        case "order":
            effects = [Effect(kind, document.partition, str(content.get("customerId")))]
        case "order-line":
            line = f"{content.get('quantity')} {content.get('sku')}"
            effects = [Effect(kind, document.partition, line)]
        case "customer":
            effects = [Effect(kind, document.partition, str(content.get("email")))]
        case _:
            effects = [Effect(kind, document.partition, "")]
    if marker := content.get("marker"):
        effects.append(Effect("marker", document.partition, str(marker["messageId"])))
    return effects


def _planned(fates: Counter[Fate], reason: str) -> int:
    return fates[Fate(reason)] if reason in REJECTIONS else 0


def _by_kind(effects: Counter[Effect]) -> dict[str, int]:
    kinds: Counter[str] = Counter()
    for effect, count in effects.items():
        kinds[effect.kind] += count
    return dict(sorted(kinds.items()))


def _round_trips(evidence: Evidence) -> float:
    """Requests up to the commit per message that was handled at its first delivery; 0 when there is none."""
    new = {
        (document.container, document.partition)
        for document in evidence.documents
        if (marker := document.content.get("marker")) and marker["deliveryAttempt"] == 1
    }
    open_, counted = set(new), 0
    for request in evidence.requests:
        place = (request.container, *request.partition_key)
        if place in open_:
            counted += 1
            if request.operation == "Batch" and request.status == 200:
                open_.discard(place)
    return counted / len(new) if new else 0.0
