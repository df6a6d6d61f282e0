"""The ledger of the stream: a run as planned passes, and every way to lose, double or misplace something is told."""

import io
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from local.demo.documents import Document
from local.demo.progress import Progress
from local.demo.report import differences, verdict
from local.demo.stream.events import Fate
from local.demo.stream.ledger import Evidence, Ledger, Parked, reckon, rows, wrong_levels
from local.demo.stream.movements import Level, plain
from local.demo.stream.plan import Plan, draw
from local.stack import HubStatistics, PartitionStatistics, RequestRecord

PLAN = draw(events=400, duplicates=0.5, crashes=1, seed=3)
SKU = min(PLAN.levels)
READ_AGAIN = 50
COMMITS = 45


def level_document(sku: str, level: Level) -> Document:
    # More zeros than the plan has: sums are numbers, not texts.
    content = {"type": "level", "sku": sku, "sum": f"{plain(level.sum)}.000", "count": level.count}
    if "." in plain(level.sum):
        content["sum"] = f"{plain(level.sum)}000"
    return Document("stock", sku, content)


def perfect(plan: Plan) -> Evidence:
    """What broker, database and storage say when all went as planned."""
    documents = [level_document(sku, level) for sku, level in plan.levels.items()]
    for effect in plan.effects.elements():
        match effect.kind:
            case "marker":
                content = {"type": "marker", "marker": {"messageId": effect.content}}
                documents.append(Document("stock", effect.partition, content))
            case "movement":
                movement_id, rest = effect.content.split(": ")
                quantity, warehouse = rest.split(" in ")
                content = {
                    "type": "movement",
                    "movementId": movement_id,
                    "warehouse": warehouse,
                    "quantity": quantity,
                }
                documents.append(Document("stock", effect.partition, content))
    sent = plan.fates().total()
    return Evidence(
        hub=HubStatistics(sent, (PartitionStatistics("0", sent, sent - 1, sent + READ_AGAIN, sent),)),
        documents=documents,
        parked=[Parked(event.fate, event.body) for event in plan.events() if event.fate.is_parked],
        requests=[
            RequestRecord(0, "ReadContainer", "stock", (), 200),
            *(RequestRecord(n, "Batch", "stock", (SKU,), 200) for n in range(COMMITS - 2)),
            RequestRecord(COMMITS, "Query", "stock", (SKU,), 200),
            RequestRecord(COMMITS + 1, "Read", "stock", (SKU,), 404),
        ],
    )


def found_wrong(evidence: Evidence) -> list[str]:
    ledger = reckon(PLAN, evidence)
    return differences(rows(PLAN, ledger)) + wrong_levels(ledger)


def exit_code(evidence: Evidence) -> int:
    """What `make run` would end with."""
    return verdict(found_wrong(evidence), Progress(io.StringIO()))


def position_of(kind: str, evidence: Evidence) -> int:
    """Of the first document of a kind, in the partition whose level the tests look at."""
    return next(
        n for n, each in enumerate(evidence.documents) if each.content["type"] == kind and each.partition == SKU
    )


def with_level(evidence: Evidence, level: Level) -> Evidence:
    documents = list(evidence.documents)
    documents[position_of("level", evidence)] = level_document(SKU, level)
    return replace(evidence, documents=documents)


def test_a_run_as_planned_passes() -> None:
    """Exit code 0 and nothing to tell; repeated reads alone are no fault."""
    ledger = reckon(PLAN, perfect(PLAN))
    fates = PLAN.fates()
    assert found_wrong(perfect(PLAN)) == []
    assert exit_code(perfect(PLAN)) == 0
    assert (ledger.lost, ledger.doubled, ledger.sent, ledger.delivered) == (0, 0, 400, 450)
    assert ledger.processed == fates[Fate.PROCESSED]
    assert ledger.duplicates == fates[Fate.ABSORBED] + READ_AGAIN
    assert ledger.parked == {str(fate): count for fate, count in sorted(fates.items()) if fate.is_parked}
    assert ledger.levels == ledger.expected
    assert ledger.store_requests_per_event == COMMITS / 450


def test_without_events_there_is_nothing_to_tell() -> None:
    """EVENTS=0: all is zero, and that is as planned."""
    plan = draw(events=0, duplicates=0.5, crashes=2, seed=3)
    ledger = reckon(plan, perfect(plan))
    assert ledger == Ledger(0, READ_AGAIN, 0, READ_AGAIN, {}, {}, {}, 0, 0, ledger.store_requests_per_event)
    assert reckon(plan, replace(perfect(plan), hub=HubStatistics(0, ()))).store_requests_per_event == 0


@pytest.mark.parametrize("kind", ["movement", "marker"])
def test_a_missing_document_is_lost(kind: str) -> None:
    """Of either kind."""
    evidence = perfect(PLAN)
    documents = list(evidence.documents)
    del documents[position_of(kind, evidence)]
    assert reckon(PLAN, replace(evidence, documents=documents)).lost == 1
    assert exit_code(replace(evidence, documents=documents)) == 1


@pytest.mark.parametrize("kind", ["movement", "marker", "level"])
def test_a_second_document_is_doubled(kind: str) -> None:
    """The same under another id; a second level counts all of its movements again."""
    evidence = perfect(PLAN)
    again = evidence.documents[position_of(kind, evidence)]
    doubled = replace(evidence, documents=[*evidence.documents, again])
    assert reckon(PLAN, doubled).doubled == (PLAN.levels[SKU].count if kind == "level" else 1)
    assert exit_code(doubled) == 1


def test_a_level_that_has_not_counted_enough_tells_how_many_are_lost() -> None:
    """The documents are there, but three increments are not."""
    level = PLAN.levels[SKU]
    ledger = reckon(PLAN, with_level(perfect(PLAN), replace(level, count=level.count - 3)))
    assert (ledger.lost, ledger.doubled) == (3, 0)


def test_a_level_that_has_counted_too_often_tells_how_many_are_doubled() -> None:
    """A re-run that the marker did not stop."""
    level = PLAN.levels[SKU]
    ledger = reckon(PLAN, with_level(perfect(PLAN), replace(level, count=level.count + 2)))
    assert (ledger.lost, ledger.doubled) == (0, 2)


def test_a_sum_of_as_many_but_other_movements_is_one_lost_and_one_doubled() -> None:
    """At least: the sum cannot tell how many. The article is named."""
    level = PLAN.levels[SKU]
    wrong = with_level(perfect(PLAN), replace(level, sum=level.sum + Decimal("0.001")))
    ledger = reckon(PLAN, wrong)
    assert (ledger.lost, ledger.doubled) == (1, 1)
    assert wrong_levels(ledger) == [f"stock of {SKU}: {ledger.levels[SKU]} found, {ledger.expected[SKU]} expected"]
    assert exit_code(wrong) == 1


def test_a_missing_level_has_lost_all_its_movements() -> None:
    """And is named."""
    evidence = perfect(PLAN)
    documents = [each for n, each in enumerate(evidence.documents) if n != position_of("level", evidence)]
    ledger = reckon(PLAN, replace(evidence, documents=documents))
    assert ledger.lost == PLAN.levels[SKU].count
    assert "nothing found" in wrong_levels(ledger)[0]


def test_an_overwritten_movement_is_lost_and_its_successor_one_too_many() -> None:
    """As many documents as expected, but one of them says what a reused id said."""
    evidence = perfect(PLAN)
    documents = list(evidence.documents)
    position = position_of("movement", evidence)
    changed = {**documents[position].content, "quantity": "12345.678"}
    documents[position] = replace(documents[position], content=changed)
    ledger = reckon(PLAN, replace(evidence, documents=documents))
    assert (ledger.lost, ledger.doubled) == (1, 1)


def unparked(evidence: Evidence) -> Evidence:
    return replace(evidence, parked=evidence.parked[1:])


def parked_twice(evidence: Evidence) -> Evidence:
    return replace(evidence, parked=[*evidence.parked, evidence.parked[0]])


def parked_for_another_reason(evidence: Evidence) -> Evidence:
    return replace(evidence, parked=[replace(evidence.parked[0], reason="AlreadyExists"), *evidence.parked[1:]])


def parked_with_another_body(evidence: Evidence) -> Evidence:
    return replace(evidence, parked=[replace(evidence.parked[0], body=b"..."), *evidence.parked[1:]])


def unsent(evidence: Evidence) -> Evidence:
    return replace(evidence, hub=replace(evidence.hub, sent=evidence.hub.sent - 1))


def stray_document(evidence: Evidence) -> Evidence:
    return replace(evidence, documents=[*evidence.documents, Document("stock", SKU, {"type": "refund"})])


def not_a_number(evidence: Evidence) -> Evidence:
    documents = list(evidence.documents)
    position = position_of("level", evidence)
    documents[position] = replace(documents[position], content={**documents[position].content, "sum": "many"})
    return replace(evidence, documents=documents)


@pytest.mark.parametrize(
    "fault",
    [
        unparked,
        parked_twice,
        parked_for_another_reason,
        parked_with_another_body,
        unsent,
        stray_document,
        not_a_number,
    ],
)
def test_anything_else_that_is_not_as_planned_fails_the_run(fault: Callable[[Evidence], Evidence]) -> None:
    """Each alone."""
    assert exit_code(fault(perfect(PLAN))) == 1


def test_what_is_parked_counts_as_there() -> None:
    """A parked event that is missing is lost; one that is there without need is one too many."""
    assert reckon(PLAN, unparked(perfect(PLAN))).lost == 1
    assert reckon(PLAN, parked_twice(perfect(PLAN))).doubled == 1
