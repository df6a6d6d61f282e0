"""Which event hubs the broker creates, and which it refuses to pretend to have."""

from datetime import timedelta

import pytest

from local.broker import TopologyError
from local.event_hubs.topology import parse_topology

HUB = {"partitionCount": 4, "messageRetention": "P7D"}


def test_hubs() -> None:
    """Every hub has the default consumer group, named or not."""
    topology = {"eventHubs": {"a": HUB | {"consumerGroups": ["$default", "audit"]}, "b": HUB}, "queues": {}}
    a, b = parse_topology(topology).values()
    assert (a.name, a.partition_count, a.retention) == ("a", 4, timedelta(days=7))
    assert a.consumer_groups == ("$default", "audit")
    assert b.consumer_groups == ("$Default",)
    assert parse_topology({}) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"partitionCount": 0},
        {"partitionCount": 33},
        {"partitionCount": "4"},
        {"messageRetention": "PT59M"},
        {"messageRetention": "P8D"},
        {"messageRetention": None},
        {"consumerGroups": [f"g{number}" for number in range(20)]},
        {"captureDescription": {}},
    ],
)
def test_what_the_service_or_the_stand_in_does_not_have(change: dict[str, object]) -> None:
    """A hub that Azure would refuse, or that needs what is not built here, stops the broker from starting."""
    with pytest.raises(TopologyError):
        parse_topology({"eventHubs": {"h": HUB | change}})
