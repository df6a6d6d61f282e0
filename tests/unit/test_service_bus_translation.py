"""What a Service Bus message says as a delivery, what an outcome means as a settlement, and how long there is."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.idempotency import Duplicate, Processed, Reason, Rejected, Stale
from shared.transports.service_bus import LOCK_RENEWAL, PATIENCE, DeadLetter, deliveries, settlement_of
from tests import examples

HOST_JSON = Path(__file__).parents[2] / "host.json"


@pytest.mark.parametrize("done", [Processed(None), Duplicate(None, datetime(2026, 1, 1, tzinfo=UTC)), Stale("late")])
def test_what_is_done_is_completed(done: Any) -> None:
    """None is the settlement `complete`."""
    assert settlement_of([done]) is None
    assert settlement_of([done, done]) is None


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_dead_lettered_under_its_name(reason: Reason) -> None:
    """Alerts are written against the names."""
    assert settlement_of([Rejected(reason, "why")]) == DeadLetter(str(reason.value), "why")


def test_a_description_fits_into_what_service_bus_takes() -> None:
    """Too long a description would make the settlement fail each time, and the message come back each time."""
    settled = settlement_of([Rejected(Reason.MALFORMED, "é" * 5000)])
    assert settled is not None
    assert len(settled.description) == 2048
    assert len(settled.description.encode("utf-16-le")) // 2 <= 4096


def test_half_a_surrogate_pair_can_be_told() -> None:
    """A producer's member name that is not valid Unicode does not stop the dead-lettering."""
    settled = settlement_of([Rejected(Reason.MALFORMED, "lines.\ud800: Extra inputs are not permitted")])
    assert settled is not None
    assert settled.description == r"lines.\ud800: Extra inputs are not permitted"


def test_a_message_becomes_a_delivery_byte_for_byte() -> None:
    """Compressed, empty or plain: the body is the one that was sent, and the source is the queue."""
    for body in (b"\x1f\x8b\x08\x00\xff\xfe", b"", b"null"):
        message = examples.service_bus_message(
            body, session_id="s", correlation_id="c", partition_key="p", application_properties={"tenant": "t"}
        )
        [delivery] = deliveries(message, "orders")
        assert delivery.body == body
        assert (delivery.source, delivery.message_id) == ("orders", "1001/placed")
        assert (delivery.session_id, delivery.correlation_id, delivery.partition_key) == ("s", "c", "p")
        assert delivery.properties == {"tenant": "t"}


def test_attempts_are_counted_from_one() -> None:
    """The first delivery is attempt 1; a count that the host did not give is no sign of a redelivery."""
    counts = {None: 1, 1: 1, 2: 2}
    for count, attempt in counts.items():
        [delivery] = deliveries(examples.service_bus_message(delivery_count=count), "orders")  # type: ignore[arg-type]
        assert delivery.attempt == attempt


def test_a_time_without_a_zone_is_utc() -> None:
    """The host's UTC times come without a zone."""
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    message = examples.service_bus_message(enqueued_time_utc=moment.replace(tzinfo=None))
    [delivery] = deliveries(message, "orders")
    assert delivery.enqueued_at == moment


def test_the_patience_is_within_the_hosts_lock_renewal() -> None:
    """A message that is held longer than its lock is renewed would be delivered to somebody else meanwhile."""
    written = json.loads(HOST_JSON.read_text())["extensions"]["serviceBus"]["maxAutoLockRenewalDuration"]
    hours, minutes, seconds = map(int, written.split(":"))
    assert timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds() == LOCK_RENEWAL
    assert PATIENCE < LOCK_RENEWAL
