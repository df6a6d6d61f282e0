"""Which queues the broker creates, and which it refuses to pretend to have."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from local.broker import TopologyError, parse_duration, read_document
from local.service_bus.topology import parse_topology


def test_durations() -> None:
    """Durations are ISO 8601, up to days."""
    assert parse_duration("P1DT2H3M4.5S") == timedelta(days=1, hours=2, minutes=3, seconds=4.5)
    assert parse_duration("PT1M") == timedelta(minutes=1)
    for nonsense in ("", "P", "PT", "1M", "P1Y"):
        with pytest.raises(TopologyError):
            parse_duration(nonsense)


def test_read_topology(tmp_path: Path) -> None:
    """A topology file gives the settings of its queues; expired messages are dead-lettered by default."""
    file = tmp_path / "topology.json"
    queue = {"lockDuration": "PT30S", "maxDeliveryCount": 5, "duplicateDetectionHistoryTimeWindow": "PT20S"}
    dropping = {"deadLetteringOnMessageExpiration": False, "defaultMessageTimeToLive": "P7D"}
    file.write_text(json.dumps({"queues": {"a": queue, "b": dropping}, "database": "retail"}))
    a, b = parse_topology(read_document(file)).values()
    assert (a.name, a.lock_duration, a.max_delivery_count) == ("a", timedelta(seconds=30), 5)
    assert (a.detection_window, a.default_time_to_live) == (timedelta(seconds=20), None)
    assert a.dead_letter_on_expiration
    assert (b.detection_window, b.default_time_to_live) == (None, timedelta(days=7))
    assert not b.dead_letter_on_expiration


@pytest.mark.parametrize(
    "queue",
    [
        {"lockDuration": "PT5M1S"},
        {"lockDuration": "PT0S"},
        {"maxDeliveryCount": 0},
        {"duplicateDetectionHistoryTimeWindow": "PT19S"},
        {"duplicateDetectionHistoryTimeWindow": "P8D"},
        {"requiresSession": True},
        {"forwardTo": "other"},
    ],
)
def test_what_the_service_or_the_stand_in_does_not_have(queue: dict[str, object]) -> None:
    """A queue that Azure would refuse, or that needs what is not built here, stops the broker from starting."""
    with pytest.raises(TopologyError):
        parse_topology({"queues": {"q": queue}})


@pytest.mark.parametrize("content", ["{", "[]", ""])
def test_a_file_that_holds_no_topology(tmp_path: Path, content: str) -> None:
    """A broken file is an error that names it, not a broker without queues."""
    file = tmp_path / "topology.json"
    file.write_text(content)
    with pytest.raises(TopologyError, match=r"topology\.json"):
        read_document(file)
