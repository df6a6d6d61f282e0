"""Markers outlive every copy of a message."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency import RetentionWindow

spans = st.timedeltas(min_value=timedelta(seconds=5), max_value=timedelta(days=14))


def window(**changes) -> RetentionWindow:
    limits = {
        "lock_duration": timedelta(minutes=1),
        "max_deliveries": 10,
        "message_ttl": timedelta(days=7),
        "duplicate_detection_window": timedelta(minutes=10),
        "resubmission_allowance": timedelta(0),
    }
    return RetentionWindow.covering(**(limits | changes))


@given(spans, st.integers(1, 100), spans, spans, spans)
def test_the_window_outlives_the_last_redelivery_of_a_resubmitted_copy(lock, deliveries, ttl, detection, allowance):
    """First life, then the longest wait in the dead-letter queue, then a second whole life: still remembered."""
    life = max(lock * deliveries, ttl, detection)
    retention = window(
        lock_duration=lock,
        max_deliveries=deliveries,
        message_ttl=ttl,
        duplicate_detection_window=detection,
        resubmission_allowance=allowance,
    )
    assert retention.duration >= life + allowance + life


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, timedelta(days=7)),
        ({"lock_duration": timedelta(minutes=5), "max_deliveries": 2500}, timedelta(minutes=12500)),
        ({"duplicate_detection_window": timedelta(days=7, seconds=1)}, timedelta(days=7, seconds=1)),
        ({"message_ttl": timedelta(days=7, milliseconds=1)}, timedelta(days=7, seconds=1)),
    ],
)
def test_the_longest_of_the_brokers_limits_decides(changes, expected):
    """Without resubmission the window is one life of a message, rounded up to whole seconds."""
    assert window(**changes).duration == expected


@pytest.mark.parametrize("seconds", [0, -1, 2**31, 3_600_000_000_000])
def test_a_window_that_a_store_cannot_keep_is_refused(seconds):
    """Milliseconds mistaken for seconds, or nothing at all, are found when the window is made."""
    with pytest.raises(ValueError, match="whole seconds"):
        RetentionWindow(seconds)
