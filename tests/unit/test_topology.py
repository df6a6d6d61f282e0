"""The reader of topology.json."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from shared.topology import Topology

FILE = Path(__file__).parents[2] / "shared" / "topology.json"


def test_queues_are_read_with_their_limits() -> None:
    """Durations are ISO 8601."""
    queue = Topology.read(FILE).queue("orders")
    assert queue.lock_duration == timedelta(minutes=1)
    assert queue.default_message_time_to_live == timedelta(days=7)
    assert queue.duplicate_detection_history_time_window == timedelta(minutes=10)


@pytest.mark.parametrize("queue", ["orders", "customers"])
def test_markers_outlive_a_message_that_is_resubmitted_at_the_last_moment(queue: str) -> None:
    """A message waits 7 days, may be resubmitted for 14 more, and then waits 7 days again."""
    assert Topology.read(FILE).queue(queue).retention().duration >= timedelta(days=28)


def test_containers_are_read_with_their_partition_property() -> None:
    """The path as the database wants it, the property as the store writes it."""
    container = Topology.read(FILE).container("customers")
    assert (container.partition_key_path, container.partition_property) == ("/customerId", "customerId")


def test_what_is_not_there_is_said_with_what_is() -> None:
    """A misspelt name is found by reading the error."""
    topology = Topology.read(FILE)
    with pytest.raises(LookupError, match=r"no queue 'order', only .*orders"):
        topology.queue("order")
    with pytest.raises(LookupError, match=r"no container 'order', only .*orders"):
        topology.container("order")


def test_a_file_with_a_misspelt_member_is_refused(tmp_path: Path) -> None:
    """A limit that nobody reads would be a limit that does not hold."""
    members = json.loads(FILE.read_text())
    members["queues"]["orders"]["lockDurations"] = members["queues"]["orders"].pop("lockDuration")
    file = tmp_path / "topology.json"
    file.write_text(json.dumps(members))
    with pytest.raises(ValidationError, match="lockDurations"):
        Topology.read(file)
