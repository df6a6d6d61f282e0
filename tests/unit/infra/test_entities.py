"""Queues, hubs and containers: what the file says, what the services allow, what the triggers name."""

import ast
import json
from datetime import timedelta
from functools import cache

import pytest
from pydantic import TypeAdapter

from shared.topology import Topology
from shared.transports import service_bus

from .tree import ROOT, at, files, text, topology

FILES = files()
TOPOLOGY = Topology.read(ROOT / "shared" / "topology.json")
HOST = json.loads((ROOT / "host.json").read_text())["extensions"]
CLOCK = TypeAdapter(timedelta)

# "Service Bus quotas", "Duplicate detection", "Message expiration"; Standard and Premium.
SHORTEST_DETECTION, LONGEST_DETECTION = timedelta(seconds=20), timedelta(days=7)
SHORTEST_LOCK, LONGEST_LOCK = timedelta(seconds=5), timedelta(minutes=5)
MOST_DELIVERIES = 2000
# "Event Hubs quotas and limits", Standard.
MOST_PARTITIONS, LONGEST_EVENT_RETENTION, MOST_CONSUMER_GROUPS = 32, timedelta(days=7), 20


@cache
def triggers():
    """Function name -> decorator name -> its keyword arguments, those that are plain values."""
    tree = ast.parse((ROOT / "function_app.py").read_text())
    return {
        function.name: {
            decorator.func.attr: {
                one.arg: one.value.value for one in decorator.keywords if isinstance(one.value, ast.Constant)
            }
            for decorator in function.decorator_list
        }
        for function in tree.body
        if isinstance(function, ast.AsyncFunctionDef)
    }


def of_kind(kind):
    return {name: decorators[kind] for name, decorators in triggers().items() if kind in decorators}


def queue_properties():
    return FILES["service-bus"].the("Microsoft.ServiceBus/namespaces/queues").body["properties"]


def test_queues_detect_duplicates_and_keep_what_expires():
    """The loop over the file's queues turns both on for each of them."""
    queue = FILES["service-bus"].the("Microsoft.ServiceBus/namespaces/queues")
    assert queue.over == "queues"
    assert at(queue.body, "properties.requiresDuplicateDetection") is True
    assert at(queue.body, "properties.deadLetteringOnMessageExpiration") is True


@pytest.mark.parametrize("queue", topology()["queues"])
def test_every_limit_of_a_queue_is_the_brokers_or_ours(queue):
    """A limit of the file that the broker has is deployed from the file; the one that is ours is not deployed."""
    ours = {"deadLetterResubmissionAllowance"}
    deployed = {key for key, value in queue_properties().items() if text(value) == f"entry.value.{key}"}
    assert deployed == set(topology()["queues"][queue]) - ours


@pytest.mark.parametrize("queue", topology()["queues"])
def test_limits_of_queues_are_within_the_services(queue):
    """Detection from 20 seconds to 7 days, locks up to 5 minutes."""
    limits = TOPOLOGY.queue(queue)
    assert SHORTEST_DETECTION <= limits.duplicate_detection_history_time_window <= LONGEST_DETECTION
    assert SHORTEST_LOCK <= limits.lock_duration <= LONGEST_LOCK
    assert 1 <= limits.max_delivery_count <= MOST_DELIVERIES
    assert limits.default_message_time_to_live > limits.lock_duration * limits.max_delivery_count


def test_the_namespace_has_duplicate_detection():
    """Basic has none."""
    sku = FILES["service-bus"].the("Microsoft.ServiceBus/namespaces").body["sku"]
    assert "Basic" not in text(sku["name"])
    assert text(sku["name"]) == text(sku["tier"])


@pytest.mark.parametrize("hub", topology()["eventHubs"])
def test_limits_of_hubs_are_within_the_services(hub):
    """Whole days, since the template reads nothing else."""
    limits = TOPOLOGY.event_hub(hub)
    assert topology()["eventHubs"][hub]["messageRetention"] == f"P{limits.message_retention.days}D"
    assert timedelta(days=1) <= limits.message_retention <= LONGEST_EVENT_RETENTION
    assert 1 <= limits.partition_count <= MOST_PARTITIONS
    assert len(limits.consumer_groups) <= MOST_CONSUMER_GROUPS


def test_hubs_are_deployed_from_the_file():
    """Partitions, retention and consumer groups; Standard, since Basic keeps events for one day."""
    (hub,) = FILES["event-hubs"].modules
    assert {key: text(value) for key, value in hub.body["params"].items()} == {
        "namespaceName": "streams.name",
        "name": "entry.key",
        "partitionCount": "entry.value.partitionCount",
        "messageRetention": "entry.value.messageRetention",
        "consumerGroups": "entry.value.consumerGroups",
    }
    made = FILES["event-hub"].the("Microsoft.EventHub/namespaces/eventhubs").body["properties"]
    assert text(made["partitionCount"]) == "partitionCount"
    assert "messageRetention" in text(made["messageRetentionInDays"])
    assert at(FILES["event-hubs"].the("Microsoft.EventHub/namespaces").body, "sku.name") == "Standard"


def test_containers_let_markers_expire_and_documents_stay():
    """`defaultTtl` -1: without it, items' own times to live mean nothing."""
    container = FILES["cosmos"].the("Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers")
    assert container.over == "containers"
    assert at(container.body, "properties.resource.defaultTtl") == -1
    assert [text(path) for path in at(container.body, "properties.resource.partitionKey.paths")] == [
        "entry.value.partitionKeyPath"
    ]


def test_containers_index_what_is_queried_and_no_more():
    """Ids are always indexed; of the rest only the partition key is."""
    policy = at(
        FILES["cosmos"].the("Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers").body,
        "properties.resource.indexingPolicy",
    )
    assert policy["indexingMode"] == "consistent"
    assert policy["excludedPaths"] == [{"path": "/*"}]
    assert [text(one["path"]) for one in policy["includedPaths"]] == ["'${entry.value.partitionKeyPath}/?'"]


def test_one_region_takes_writes():
    """Two regions could both accept the first copy of a message."""
    account = FILES["cosmos"].the("Microsoft.DocumentDB/databaseAccounts").body["properties"]
    assert account["enableMultipleWriteLocations"] is False
    assert len(account["locations"]) == 1
    assert at(account, "consistencyPolicy.defaultConsistencyLevel") == "Session"


def test_serverless_and_autoscale_exclude_each_other():
    """One number decides both."""
    account = FILES["cosmos"].the("Microsoft.DocumentDB/databaseAccounts").body["properties"]
    database = FILES["cosmos"].the("Microsoft.DocumentDB/databaseAccounts/sqlDatabases").body["properties"]
    assert text(account["capabilities"]) == "maxThroughput == 0 ? [{ name: 'EnableServerless' }] : []"
    assert text(database["options"]).startswith("maxThroughput == 0 ? {} : ")


def test_every_queue_has_one_trigger_and_every_trigger_a_queue():
    """A queue that nobody reads fills up; a trigger without its queue stops the app from starting."""
    read = [trigger["queue_name"] for trigger in of_kind("service_bus_queue_trigger").values()]
    assert sorted(read) == sorted(topology()["queues"])


def test_every_consumer_group_has_one_trigger_and_every_trigger_a_group():
    """Two triggers on one group would take partitions from each other."""
    read = [
        (trigger["event_hub_name"], trigger["consumer_group"])
        for trigger in of_kind("event_hub_message_trigger").values()
    ]
    offered = [(name, group) for name, hub in topology()["eventHubs"].items() for group in hub["consumerGroups"]]
    assert sorted(read) == sorted(offered)


def test_the_host_leaves_settling_to_us():
    """In host.json for all, and on each trigger."""
    assert HOST["serviceBus"]["autoCompleteMessages"] is False
    for trigger in of_kind("service_bus_queue_trigger").values():
        assert trigger["auto_complete_messages"] is False


def test_locks_are_renewed_for_as_long_as_a_message_is_held():
    """The transport computes with the number of host.json; prefetched messages would age while they wait."""
    renewal = CLOCK.validate_python(HOST["serviceBus"]["maxAutoLockRenewalDuration"])
    assert renewal.total_seconds() == service_bus.LOCK_RENEWAL
    assert service_bus.PATIENCE < service_bus.LOCK_RENEWAL
    assert HOST["serviceBus"]["prefetchCount"] == 0


def test_a_batch_of_events_is_checkpointed_and_never_given_up():
    """Otherwise the checkpoint passes events that were not processed."""
    assert HOST["eventHubs"]["batchCheckpointFrequency"] == 1
    for name in of_kind("event_hub_message_trigger"):
        assert triggers()[name]["retry"]["max_retry_count"] == "-1"
