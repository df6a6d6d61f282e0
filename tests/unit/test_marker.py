"""What a marker says, and the table that says what seeing one means."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.idempotency import DeduplicationKey, Fingerprint, Marker
from shared.idempotency.marker import TRANSITIONS, Standing, Told, Verdict, standing

KEY = DeduplicationKey.of("place_order", "orders", "1001/placed")
PRINT = Fingerprint.of(b'{"orderId":"1001"}')
MARKER = Marker(
    key=KEY.digest,
    consumer="place_order",
    source="orders",
    message_id="1001/placed",
    fingerprint=PRINT,
    attempt_id="a1",
    delivery_attempt=1,
    processed_at=datetime(2026, 1, 31, 12, tzinfo=UTC),
    result={"orderId": "1001"},
)


def seen(marker: Marker | None, attempt_id: str = "a2", fingerprint: Fingerprint = PRINT) -> Standing:
    return standing(marker, key=KEY, fingerprint=fingerprint, attempt_id=attempt_id)


def test_every_case_has_a_verdict():
    """There is no pair of reason and standing that the table forgets."""
    assert set(TRANSITIONS) == {(told, stands) for told in Told for stands in Standing}


@pytest.mark.parametrize(
    ("told", "verdict"),
    [(Told.REDELIVERED, Verdict.RUN), (Told.DOUBT, Verdict.RUN), (Told.CONFLICT, Verdict.LOOK_AGAIN)],
)
def test_an_absent_marker_means_new_unless_a_conflict_promised_it(told, verdict):
    """Only a conflict knows better than a read that finds nothing."""
    assert TRANSITIONS[told, seen(None)] is verdict


@pytest.mark.parametrize("told", Told)
def test_our_own_marker_is_never_a_duplicate(told):
    """A marker with this attempt's id means that our own commit went through, whatever we were told."""
    assert TRANSITIONS[told, seen(MARKER, attempt_id="a1")] is Verdict.PROCESSED


@pytest.mark.parametrize("told", Told)
def test_the_same_content_is_a_duplicate_and_other_content_a_mismatch(told):
    """Prints are compared on every path."""
    assert TRANSITIONS[told, seen(MARKER)] is Verdict.DUPLICATE
    assert TRANSITIONS[told, seen(MARKER, fingerprint=Fingerprint.of(b"{}"))] is Verdict.FINGERPRINT_MISMATCH


def test_a_print_of_another_version_is_not_the_same():
    """Prints of two versions of the canonical form are never taken for equal."""
    newer = replace(PRINT, version=PRINT.version + 1)
    assert seen(MARKER, fingerprint=newer) is Standing.OTHER


def test_a_marker_of_another_key_is_foreign():
    """A document written by another message proves nothing about this one."""
    assert TRANSITIONS[Told.CONFLICT, seen(replace(MARKER, key="0" * 40))] is Verdict.IDENTITY_MISMATCH


def test_a_marker_survives_being_stored():
    """All that is written is read back, content print and result included."""
    assert Marker.from_json(MARKER.to_json()) == MARKER
