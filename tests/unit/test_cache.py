"""Completed markers in the process: bounded, compared, and no longer valid than those in the store."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.idempotency import CompletedMarkers
from tests.unit.test_marker import MARKER

WEEK = timedelta(days=7)


def test_a_remembered_marker_is_recalled_whole():
    """The print and the result come back with it."""
    cache = CompletedMarkers(2, WEEK)
    cache.remember(MARKER)
    assert cache.recall(MARKER.key, MARKER.processed_at) == MARKER


def test_the_least_recently_used_marker_makes_room():
    """The cache never holds more than its capacity, and keeps what is hot."""
    cache = CompletedMarkers(2, WEEK)
    first, second, third = (replace(MARKER, key=name) for name in "abc")
    cache.remember(first)
    cache.remember(second)
    cache.recall("a", MARKER.processed_at)
    cache.remember(third)
    assert [cache.recall(name, MARKER.processed_at) for name in "abc"] == [first, None, third]


def test_a_marker_is_forgotten_when_its_window_closes():
    """At the moment the retention window ends the cache knows nothing more than the store."""
    cache = CompletedMarkers(2, WEEK)
    cache.remember(MARKER)
    assert cache.recall(MARKER.key, MARKER.processed_at + WEEK - timedelta(seconds=1)) == MARKER
    assert cache.recall(MARKER.key, MARKER.processed_at + WEEK) is None


def test_a_cache_that_holds_nothing_is_refused():
    """A capacity below one is a mistake in the wiring."""
    with pytest.raises(ValueError, match="at least one"):
        CompletedMarkers(0, WEEK)
