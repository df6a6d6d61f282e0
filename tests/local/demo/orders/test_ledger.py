"""The ledger of orders: a run as planned passes, and every way to lose, double or misplace something is told."""

import dataclasses
import io
from collections import Counter
from collections.abc import Callable

import pytest

from local.demo.documents import Document, Effect
from local.demo.orders.ledger import Evidence, reckon, rows
from local.demo.orders.plan import REJECTIONS, Fate, Plan, draw
from local.demo.progress import Progress
from local.demo.report import differences, verdict
from local.stack import QueueStatistics, RequestRecord

PLAN = draw(orders=20, duplicates=0.5, crashes=1, seed=3)


def perfect(plan: Plan) -> Evidence:
    """What broker and database say when all went as planned."""
    fates = plan.fates()
    reasons = Counter({str(fate): fates[fate] for fate in REJECTIONS})
    accepted = fates.total() - fates[Fate.DROPPED]
    broker = QueueStatistics(
        sent=fates.total(),
        dropped_as_duplicate=fates[Fate.DROPPED],
        deliveries=accepted + 5,
        completed=fates[Fate.PROCESSED] + fates[Fate.ABSORBED],
        abandoned=0,
        lock_expired=5,
        dead_lettered=reasons.total(),
        active=0,
        locked=0,
        scheduled=0,
        deferred=0,
        dead_letter=reasons.total(),
    )
    documents = [document_of(effect) for effect in plan.effects]
    commits = [
        RequestRecord(n, "Batch", document.container, (document.partition,), 200)
        for n, document in enumerate(documents)
        if "marker" in document.content
    ]
    return Evidence([broker], reasons, documents, commits)


def document_of(effect: Effect) -> Document:
    """The document that proves this effect. Customers' markers stand alone here; what counts is that they stand."""
    container = "customers" if effect.partition.startswith("C-") else "orders"
    content: dict[str, object] = {"type": effect.kind}
    match effect.kind:
        case "marker":
            content["marker"] = {"messageId": effect.content, "deliveryAttempt": 1}
        case "order":
            content["customerId"] = effect.content
        case "order-line":
            quantity, content["sku"] = effect.content.split(" ", 1)
            content["quantity"] = int(quantity)
        case "customer":
            content["email"] = effect.content
    return Document(container, effect.partition, content)


def found_wrong(evidence: Evidence) -> list[str]:
    return differences(rows(PLAN, reckon(PLAN, evidence)))


def exit_code(evidence: Evidence) -> int:
    """What `make run` would end with."""
    return verdict(found_wrong(evidence), Progress(io.StringIO()))


def without(evidence: Evidence, position: int) -> Evidence:
    documents = list(evidence.documents)
    del documents[position]
    return dataclasses.replace(evidence, documents=documents)


def test_a_run_as_planned_passes() -> None:
    """Exit code 0 and nothing to tell; redeliveries alone are no fault."""
    ledger = reckon(PLAN, perfect(PLAN))
    assert found_wrong(perfect(PLAN)) == []
    assert (ledger.lost, ledger.doubled, ledger.store_round_trips_per_new_message) == (0, 0, 1.0)
    assert ledger.documents == ledger.expected
    assert ledger.duplicates == PLAN.fates()[Fate.ABSORBED]
    assert exit_code(perfect(PLAN)) == 0


@pytest.mark.parametrize("kind", ["order", "order-line", "customer", "marker"])
def test_a_missing_document_is_lost(kind: str) -> None:
    """Of whatever kind."""
    evidence = perfect(PLAN)
    position = next(n for n, document in enumerate(evidence.documents) if document.content["type"] == kind)
    assert reckon(PLAN, without(evidence, position)).lost == 1
    assert exit_code(without(evidence, position)) == 1


@pytest.mark.parametrize("kind", ["order", "order-line", "customer", "marker"])
def test_a_second_document_is_doubled(kind: str) -> None:
    """The same effect under another id."""
    evidence = perfect(PLAN)
    again = next(document for document in evidence.documents if document.content["type"] == kind)
    doubled = dataclasses.replace(evidence, documents=[*evidence.documents, again])
    assert reckon(PLAN, doubled).doubled == 1
    assert exit_code(doubled) == 1


def test_an_overwritten_document_is_lost_and_its_successor_one_too_many() -> None:
    """As many documents as expected, but one of them says what a reused id said."""
    evidence = perfect(PLAN)
    documents = [
        dataclasses.replace(each, content={**each.content, "quantity": 99})
        if n == next(i for i, d in enumerate(evidence.documents) if d.content["type"] == "order-line")
        else each
        for n, each in enumerate(evidence.documents)
    ]
    ledger = reckon(PLAN, dataclasses.replace(evidence, documents=documents))
    assert (ledger.lost, ledger.doubled) == (1, 1)
    assert ledger.documents == ledger.expected


def test_a_document_of_an_unknown_kind_is_one_too_many() -> None:
    """Nothing may be in the database that nobody asked for."""
    evidence = perfect(PLAN)
    stray = Document("orders", "1001", {"type": "refund"})
    assert exit_code(dataclasses.replace(evidence, documents=[*evidence.documents, stray])) == 1


def missing_rejection(evidence: Evidence) -> Evidence:
    return dataclasses.replace(evidence, dead_letter_reasons=evidence.dead_letter_reasons - Counter(["Malformed"]))


def unplanned_rejection(evidence: Evidence) -> Evidence:
    reasons = evidence.dead_letter_reasons + Counter(["MaxDeliveryCountExceeded"])
    return dataclasses.replace(evidence, dead_letter_reasons=reasons)


def read_before_commit(evidence: Evidence) -> Evidence:
    commit = evidence.requests[0]
    read = RequestRecord(0, "Read", commit.container, commit.partition_key, 404)
    return dataclasses.replace(evidence, requests=[read, *evidence.requests])


def undropped_copy(evidence: Evidence) -> Evidence:
    (queue,) = evidence.queues
    fewer = dataclasses.replace(queue, dropped_as_duplicate=queue.dropped_as_duplicate - 1)
    return dataclasses.replace(evidence, queues=[fewer])


@pytest.mark.parametrize("fault", [missing_rejection, unplanned_rejection, read_before_commit, undropped_copy])
def test_anything_else_that_is_not_as_planned_fails_the_run(fault: Callable[[Evidence], Evidence]) -> None:
    """Each alone, with one sentence that names it."""
    assert len(found_wrong(fault(perfect(PLAN)))) == 1
    assert exit_code(fault(perfect(PLAN))) == 1


def test_requests_after_the_commit_do_not_count() -> None:
    """A later copy reads the marker; that is its own round trip."""
    evidence = perfect(PLAN)
    commit = evidence.requests[0]
    later = RequestRecord(99, "Read", commit.container, commit.partition_key, 200)
    ledger = reckon(PLAN, dataclasses.replace(evidence, requests=[*evidence.requests, later]))
    assert ledger.store_round_trips_per_new_message == 1.0
