"""The app as Microsoft's worker sees it, in a clean process without any setting."""

import ast
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.child_process import report_of
from tests.settlement_service import serving

ROOT = Path(__file__).parents[2]
TOPOLOGY = json.loads((ROOT / "shared" / "topology.json").read_text())


async def worker(*arguments: str) -> Any:
    """What `tests.run_in_worker` reports, from a process that knows no app setting."""
    return await report_of("tests.run_in_worker", *arguments)


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """What the worker indexed."""
    report = asyncio.run(worker())
    assert "error" not in report, report
    return dict(report)


@pytest.fixture(scope="module")
def functions(report: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Every function's bindings."""
    return dict(report["functions"])


def triggers(functions: dict[str, list[dict[str, Any]]], kind: str = "serviceBusTrigger") -> dict[str, dict[str, Any]]:
    """The triggers of a kind by function."""
    return {name: binding for name, bindings in functions.items() for binding in bindings if binding["type"] == kind}


def test_the_app_is_indexed_without_any_setting(functions: dict[str, list[dict[str, Any]]]) -> None:
    """A setting that is read on import would hide every function behind "No functions found"."""
    assert set(functions) == {"place_order", "register_customer", "record_movement", "health"}


def test_triggers_read_the_queues_of_the_topology(functions: dict[str, list[dict[str, Any]]]) -> None:
    """Each queue has a consumer, and each consumer a queue that is deployed."""
    assert sorted(trigger["queueName"] for trigger in triggers(functions).values()) == sorted(TOPOLOGY["queues"])


def test_triggers_settle_by_themselves_and_take_bodies_as_bytes(functions: dict[str, list[dict[str, Any]]]) -> None:
    """Completing on return would hide a rejection; decoding as text would mangle what is not UTF-8."""
    for trigger in triggers(functions).values():
        assert trigger["autoCompleteMessages"] is False
        assert trigger["dataType"] == "BINARY"
        assert trigger["connection"] == "ServiceBusConnection"


def test_the_host_does_not_complete_either() -> None:
    """host.json says the same as the triggers, for whoever adds one."""
    options = json.loads((ROOT / "host.json").read_text())["extensions"]["serviceBus"]
    assert options["autoCompleteMessages"] is False


def test_streams_are_read_as_the_topology_says(functions: dict[str, list[dict[str, Any]]]) -> None:
    """Each hub through a consumer group that is deployed, in batches, with bodies as bytes."""
    hubs = TOPOLOGY["eventHubs"]
    read = triggers(functions, "eventHubTrigger").values()
    assert sorted(trigger["eventHubName"] for trigger in read) == sorted(hubs)
    for trigger in read:
        assert trigger["consumerGroup"] in hubs[trigger["eventHubName"]]["consumerGroups"]
        assert (trigger["cardinality"], trigger["dataType"]) == ("MANY", "BINARY")
        assert trigger["connection"] == "EventHubConnection"


def test_no_stream_gives_up_on_a_batch(report: dict[str, Any], functions: dict[str, list[dict[str, Any]]]) -> None:
    """A checkpoint passes a batch that fails without a retry policy, or after its last retry."""
    assert set(report["retries"]) == set(triggers(functions, "eventHubTrigger"))
    for policy in report["retries"].values():
        assert (policy["strategy"], policy["max_retry_count"]) == ("exponential_backoff", -1)
        assert (policy["minimum"], policy["maximum"]) == (1, 60)


def test_the_host_reads_streams_from_their_start_in_batches_that_a_store_can_look_up() -> None:
    """At most as many events as one request finds markers for; each batch is checkpointed; and what was sent before the
    first start is read too."""
    options = json.loads((ROOT / "host.json").read_text())["extensions"]["eventHubs"]
    assert options["maxEventBatchSize"] <= 100
    assert options["batchCheckpointFrequency"] == 1
    assert options["initialOffsetOptions"] == {"type": "fromStart"}


async def test_a_batch_whose_poison_cannot_be_parked_fails() -> None:
    """Through the real worker library, without any setting: the event is rejected, parking is an outage, and the
    invocation fails instead of letting the checkpoint pass."""
    report = await worker("--invoke", "record_movement")
    assert "TransientFailure" in report["failure"]
    assert "AzureWebJobsStorage" in report["failure"]


def test_health_is_open_to_whoever_asks(functions: dict[str, list[dict[str, Any]]]) -> None:
    """The platform's health check brings no key."""
    [trigger] = [binding for binding in functions["health"] if binding["type"] == "httpTrigger"]
    assert (trigger["route"], trigger["authLevel"]) == ("health", "ANONYMOUS")
    assert trigger["methods"] == ["GET"]


@pytest.mark.parametrize("function", ["place_order", "register_customer"])
async def test_the_worker_injects_the_settlement_client(function: str) -> None:
    """Through the real worker library a keyless message reaches the host's settlement service as a dead letter."""
    async with serving() as service:
        host, port = service.address.split(":")
        report = await worker("--host", host, "--port", port, "--invoke", function)
        assert report["failure"] is None
        [(settlement, reason, _)] = service.settled
        assert (settlement, reason) == ("dead_letter", "NoStableKey")


async def test_health_tells_what_ails_the_app_by_class_alone() -> None:
    """Without settings nothing can be processed: 503, and why, in one word that gives nothing away."""
    report = await worker("--invoke", "health")
    status, body = report["answer"]
    assert status == 503
    assert json.loads(body) == {"status": "unavailable", "reason": "SettingsError"}


def test_triggers_hand_over_to_wiring() -> None:
    """function_app.py knows the composition root and the transports, and nothing behind them."""
    tree = ast.parse((ROOT / "function_app.py").read_text())
    imported = {
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert imported <= {
        "shared.wiring",
        "shared.transports.event_hubs",
        "shared.transports.service_bus",
        "shared.transports.settlement.Settlement",
    }
