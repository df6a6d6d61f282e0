"""Which partition events go to."""

import pytest

from local.broker import InvalidRequest
from local.event_hubs.faults import EntityNotFound, PartitionNotFound

from .builders import a_hub, a_publication, numbers, read_all


def test_keyless_events_take_turns() -> None:
    """Events without key go to each partition in turn, a batch as a whole."""
    hub = a_hub()
    for _ in range(5):
        hub.publish(a_publication(count=2), None)
    assert [len(read_all(partition)) for partition in hub.partitions.values()] == [4, 2, 2, 2]


def test_a_key_has_one_partition() -> None:
    """Events of one key are in one partition, in the order they were sent."""
    hub = a_hub()
    sent = [event for _ in range(3) for event in hub.publish(a_publication(count=2, key="7"), None)]
    assert read_all(hub.partition("3")) == sent
    assert numbers(sent) == list(range(6))


def test_a_named_partition() -> None:
    """Who names a partition gets it, and keys do not mix with names."""
    hub = a_hub()
    [event] = hub.publish(a_publication(), "2")
    assert read_all(hub.partition("2")) == [event]
    with pytest.raises(InvalidRequest):
        hub.publish(a_publication(key="k"), "2")
    assert hub.statistics()["sent"] == 1


@pytest.mark.parametrize("partition_id", ["4", "-1", "00", "x", ""])
def test_unknown_partition(partition_id: str) -> None:
    """A partition that is not there is an error that tells which are."""
    with pytest.raises(PartitionNotFound, match="between 0 and 3") as raised:
        a_hub().publish(a_publication(), partition_id)
    assert raised.value.condition == "com.microsoft:argument-out-of-range"


def test_consumer_groups() -> None:
    """A hub has the groups of its topology, in whatever case, and no other."""
    hub = a_hub()
    hub.require_group("$default")
    hub.require_group("audit")
    with pytest.raises(EntityNotFound, match=r"'stock\|other' could not be found"):
        hub.require_group("other")


def test_statistics() -> None:
    """What was sent is told for the hub, what is there for each partition."""
    hub = a_hub(partition_count=2)
    hub.publish(a_publication(count=3), "1")
    assert hub.statistics() == {
        "sent": 3,
        "partitions": [
            {"id": "0", "events": 0, "last_sequence_number": -1, "delivered": 0, "first_delivered": 0},
            {"id": "1", "events": 3, "last_sequence_number": 2, "delivered": 0, "first_delivered": 0},
        ],
    }
