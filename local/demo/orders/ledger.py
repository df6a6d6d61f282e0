"""The ledger: what was found in the broker and the database, held against what the plan says has to be there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from local.stack import QueueStatistics, RequestRecord

from ..documents import Document, Effect, by_kind, marker_effects
from ..report import Row
from .plan import REJECTIONS, Fate, Plan

ONE_ROUND_TRIP = 1.0
"""A first delivery commits without reading first."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the broker and the database say after the run. Nothing here comes from the app."""

    queues: Sequence[QueueStatistics]
    """The broker's counters."""
    dead_letter_reasons: Counter[str]
    """Of the messages in the dead-letter queues."""
    documents: Sequence[Document]
    """All documents of the containers that messages write to."""
    requests: Sequence[RequestRecord]
    """What the database was asked, in order within a container."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The result of a run; the fields are keys of ledger.json."""

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
        documents=by_kind(found),
        expected=by_kind(expected),
        lost=(expected - found).total(),
        doubled=(found - expected).total(),
        store_round_trips_per_new_message=_round_trips(evidence),
    )


def rows(plan: Plan, ledger: Ledger) -> list[Row]:
    """The ledger in reading order; nothing is expected of the number of deliveries."""
    fates = plan.fates()
    reasons = sorted({*ledger.dead_lettered, *(fate for fate in REJECTIONS if fates[fate])})
    kinds = sorted({*ledger.documents, *ledger.expected})
    return [
        Row("messages sent", ledger.sent, fates.total()),
        Row("dropped by the broker", ledger.dropped_by_broker, fates[Fate.DROPPED]),
        Row("deliveries", ledger.deliveries, None),
        Row("processed", ledger.processed, fates[Fate.PROCESSED]),
        Row("duplicates absorbed", ledger.duplicates, fates[Fate.ABSORBED]),
        *(Row(f"dead-lettered {each}", ledger.dead_lettered.get(each, 0), _planned(fates, each)) for each in reasons),
        *(Row(f"documents {each}", ledger.documents.get(each, 0), ledger.expected.get(each, 0)) for each in kinds),
        Row("lost", ledger.lost, 0),
        Row("doubled", ledger.doubled, 0),
        Row("store round trips per new message", ledger.store_round_trips_per_new_message, ONE_ROUND_TRIP),
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
    return [*effects, *marker_effects(document)]


def _planned(fates: Counter[Fate], reason: str) -> int:
    return fates[Fate(reason)] if reason in REJECTIONS else 0


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
