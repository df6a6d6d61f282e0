"""From events to metrics, heard by OpenTelemetry's in-memory reader."""

import dataclasses
from datetime import timedelta

import pytest

from shared.idempotency import Doubtful, Duplicate, Outcome, Processed, Reason, Rejected, Stale
from tests import examples
from tests.listening import NOON, Listener, Point, ended, parked, retrying, settlement_failed, store_call


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.mark.parametrize(
    ("outcome", "word"),
    [(Processed(None), "processed"), (Duplicate(None, NOON), "duplicate"), (Stale("later"), "stale"), (None, "failed")],
)
def test_a_delivery_counts_under_its_outcome(listener: Listener, outcome: Outcome | None, word: str) -> None:
    """Who consumed it, how it ended, and how long that took."""
    listener.telemetry.hook(ended(outcome, None if outcome else KeyError("secret")))
    how = {"consumer": "place_order", "outcome": word}
    assert listener.metrics()["idempotency.deliveries"] == [Point(how, 1, 1)]
    assert listener.metrics()["idempotency.delivery.duration"] == [Point(how, 0.25, 1)]


def test_a_rejection_counts_under_its_reason(listener: Listener) -> None:
    """A reused id needs another person than a malformed body."""
    for reason in (Reason.FINGERPRINT_MISMATCH, Reason.MALFORMED, Reason.MALFORMED):
        listener.telemetry.hook(ended(Rejected(reason, "why")))
    counts = {point.attributes["reason"]: point.sum for point in listener.metrics()["idempotency.deliveries"]}
    assert counts == {"FingerprintMismatch": 1, "Malformed": 2}
    assert {point.attributes["outcome"] for point in listener.metrics()["idempotency.deliveries"]} == {"rejected"}


def test_a_duplicate_tells_how_old_its_original_is(listener: Listener) -> None:
    """Minutes are a redelivery; days are a producer that sends again."""
    listener.clock.advance(90)
    listener.telemetry.hook(ended(Duplicate(None, NOON)))
    listener.telemetry.hook(ended(Processed(None)))
    assert listener.metrics()["idempotency.duplicate.age"] == [Point({"consumer": "place_order"}, 90.0, 1)]


def test_a_marker_from_a_clock_ahead_of_ours_has_no_negative_age(listener: Listener) -> None:
    """Machines differ by milliseconds, and a sum must not shrink."""
    listener.telemetry.hook(ended(Duplicate(None, NOON + timedelta(seconds=3))))
    assert listener.metrics()["idempotency.duplicate.age"] == [Point({"consumer": "place_order"}, 0.0, 1)]


def test_lag_is_measured_whatever_the_end(listener: Listener) -> None:
    """A stream that fails for an hour is an hour behind, and says so while it fails."""
    listener.clock.advance(3600)
    listener.telemetry.hook(ended(error=KeyError("secret")))
    listener.telemetry.hook(ended(Processed(None), delivery=examples.delivery()))
    assert listener.metrics()["idempotency.event.lag"] == [Point({"consumer": "place_order"}, 3600.0, 1)]


def test_every_request_to_the_database_counts(listener: Listener) -> None:
    """How many, how long and at what charge, by operation and container."""
    for call in (store_call(), store_call(), store_call(status=409), store_call("read", seconds=0.002)):
        listener.telemetry.hook(call)
    told = listener.metrics()
    commit, read = ({"operation": name, "container": "orders"} for name in ("commit", "read"))
    assert told["idempotency.store.round_trips"] == [
        Point({**commit, "status": 200}, 2, 1),
        Point({**commit, "status": 409}, 1, 1),
        Point({**read, "status": 200}, 1, 1),
    ]
    assert [point.sum for point in told["idempotency.store.duration"]] == [0.008, 0.004, 0.002]
    assert told["idempotency.store.request_charge"] == [
        Point(commit, pytest.approx(69.3), 3),
        Point(read, pytest.approx(23.1), 1),
    ]


def test_waits_failed_settlements_and_parked_events_count(listener: Listener) -> None:
    """What needs somebody's eye, each under its cause."""
    doubtful = dataclasses.replace(retrying(), cause=Doubtful("lost"))
    for event in (retrying(), doubtful, settlement_failed(), parked()):
        listener.telemetry.hook(event)
    told = listener.metrics()
    causes = [point.attributes for point in told["idempotency.retries"]]
    assert causes == [{"consumer": "place_order", "cause": cause} for cause in ("TransientFailure", "Doubtful")]
    failure = {"source": "orders", "settlement": "complete"}
    assert told["idempotency.settlement.failures"] == [Point(failure, 1, 1)]
    assert told["idempotency.parked"] == [Point({"consumer": "place_order", "reason": "Malformed"}, 1, 1)]
