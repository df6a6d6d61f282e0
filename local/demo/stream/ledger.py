"""The ledger of the stream: what broker, database and parking lot have, held against what has to be there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from local.stack import HubStatistics, RequestRecord

from ..documents import Document, Effect, marker_effects
from ..report import Row
from .events import Fate
from .movements import NO_STOCK, Level, movement_effect, parked_effect, plain
from .plan import Plan

STORE_REQUESTS = ("Batch", "Query", "Read")
"""What a store asks about documents; opening a container is no question about an event."""


@dataclass(frozen=True, slots=True)
class Parked:
    """A parked event as it was found."""

    reason: str
    """Why it is there."""
    body: bytes
    """What came, from the row or from its blob."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What broker, database and storage say after the run. Nothing here comes from the app."""

    hub: HubStatistics
    """The broker's counters."""
    documents: Sequence[Document]
    """All documents of the stock."""
    parked: Sequence[Parked]
    """All rows of the parking lot."""
    requests: Sequence[RequestRecord]
    """What the database was asked about the stock."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The result of a run; the fields are the keys of `events` in ledger.json."""

    sent: int
    """Events that the broker was given."""
    delivered: int
    """Events that the broker handed out, repeats included. The host reads ahead: what it held when it had to begin anew
    is counted, although the app never saw it."""
    processed: int
    """Markers found."""
    duplicates: int
    """Deliveries that left nothing: `delivered` less the markers and the rows of parked events. Copies of movements,
    and all that was read again; a parked event that comes again meets its row, so it is among them."""
    parked: dict[str, int]
    """Rows of parked events by reason."""
    levels: dict[str, str]
    """The sum found in each article's level."""
    expected: dict[str, str]
    """The sum expected there."""
    lost: int
    """Expected and not found: markers, movements, parked events, and movements that a level has not counted."""
    doubled: int
    """Found and not expected, or not so often."""
    store_requests_per_event: float
    """Questions to the database about the stock, by `delivered`."""


def reckon(plan: Plan, evidence: Evidence) -> Ledger:
    """Draw the balance."""
    found = Counter(effect for document in evidence.documents for effect in effects_of(document))
    found += Counter(parked_effect(parked.reason, parked.body) for parked in evidence.parked)
    levels = levels_in(evidence.documents)
    processed = sum(count for effect, count in found.items() if effect.kind == "marker")
    delivered = evidence.hub.delivered
    asked = sum(request.operation in STORE_REQUESTS for request in evidence.requests)
    return Ledger(
        sent=evidence.hub.sent,
        delivered=delivered,
        processed=processed,
        duplicates=delivered - processed - len(evidence.parked),
        parked=dict(sorted(Counter(parked.reason for parked in evidence.parked).items())),
        levels=_sums(levels),
        expected=_sums(plan.levels),
        lost=(plan.effects - found).total() + _uncounted(plan.levels, levels),
        doubled=(found - plan.effects).total() + _uncounted(levels, plan.levels),
        store_requests_per_event=round(asked / delivered, 4) if delivered else 0.0,
    )


def rows(plan: Plan, ledger: Ledger) -> list[Row]:
    """The ledger in reading order. How often something is read again, no plan can know."""
    fates = plan.fates()
    planned = {str(fate): count for fate, count in fates.items() if fate.is_parked}
    right = sum(ledger.levels.get(sku) == total for sku, total in ledger.expected.items())
    return [
        Row("events sent", ledger.sent, fates.total()),
        Row("deliveries", ledger.delivered, None),
        Row("processed", ledger.processed, fates[Fate.PROCESSED]),
        Row("duplicates absorbed, repeated reads included", ledger.duplicates, None),
        *(
            Row(f"parked {each}", ledger.parked.get(each, 0), planned.get(each, 0))
            for each in sorted({*ledger.parked, *planned})
        ),
        Row("stock levels with the right sum", right, len(ledger.expected)),
        Row("lost", ledger.lost, 0),
        Row("doubled", ledger.doubled, 0),
        Row("store requests per event", ledger.store_requests_per_event, None),
    ]


def wrong_levels(ledger: Ledger) -> list[str]:
    """Every article whose level is not as it has to be, one sentence each."""
    return [
        f"stock of {sku}: {ledger.levels.get(sku, 'nothing')} found, {ledger.expected.get(sku, 'nothing')} expected"
        for sku in sorted({*ledger.levels, *ledger.expected})
        if ledger.levels.get(sku) != ledger.expected.get(sku)
    ]


def effects_of(document: Document) -> list[Effect]:
    """What a document proves; a level proves nothing by itself, see `levels_in`."""
    content = document.content
    match kind := str(content.get("type")):
        case "level":
            return []
        case "marker":
            return marker_effects(document)
        case "movement":
            movement_id, warehouse = str(content.get("movementId")), str(content.get("warehouse"))
            return [movement_effect(document.partition, movement_id, warehouse, _number(content.get("quantity")))]
        case _:
            return [Effect(kind, document.partition, "")]


def levels_in(documents: Sequence[Document]) -> dict[str, Level]:
    """The level of every article that has one; two of one article are added up, and so found to be too many."""
    levels: dict[str, Level] = {}
    for document in documents:
        if document.content.get("type") == "level":
            level = Level(_number(document.content.get("sum")), int(document.content.get("count", 0)))
            levels[document.partition] = levels.get(document.partition, NO_STOCK) + level
    return levels


def _number(text: object) -> Decimal:
    """A quantity as it stands in a document; what is none counts as nothing, and so is found to be wrong."""
    try:
        return Decimal(str(text))
    except InvalidOperation:
        return Decimal(0)


def _sums(levels: Mapping[str, Level]) -> dict[str, str]:
    return {sku: plain(level.sum) for sku, level in sorted(levels.items())}


def _uncounted(levels: Mapping[str, Level], others: Mapping[str, Level]) -> int:
    """Movements that levels have counted and the others have not: at least one where only the sums differ."""
    missing = 0
    for sku, level in levels.items():
        other = others.get(sku, NO_STOCK)
        same_count = level.count == other.count
        missing += int(level.sum != other.sum) if same_count else max(0, level.count - other.count)
    return missing
