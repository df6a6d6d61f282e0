"""Metrics, traces and log lines of the whole app, through Microsoft's worker library and the real stores' SDK."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from local.cosmos import Cosmos
from tests.child_process import report_of
from tests.settlement_service import serving
from tests.telemetry_in_worker import HOSTS, INVOCATIONS, PRODUCERS

ROOT = Path(__file__).parents[2]
_NO_STORAGE = (
    "AccountName=shop;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:1/shop;BlobEndpoint=http://127.0.0.1:1/shop"
)
"""Nothing listens there: what has to be parked fails its batch."""
_MESSAGE, _COPY, _KEYLESS, _BATCH, _FAILED_BATCH = range(len(INVOCATIONS))


async def run() -> dict[str, Any]:
    """What `tests.telemetry_in_worker` reports."""
    async with Cosmos.serving(topology=ROOT / "shared" / "topology.json") as cosmos, serving() as service:
        service.locked = AlwaysLocked()
        host, port = service.address.split(":")
        settings = {
            "CosmosConnection": cosmos.connection_string,
            "AzureWebJobsStorage": _NO_STORAGE,
            "PYTHON_ENABLE_OPENTELEMETRY": "true",
        }
        arguments = ("--host", host, "--port", port)
        return dict(await report_of("tests.telemetry_in_worker", *arguments, settings=settings))


class AlwaysLocked(set[str]):
    """Every lock but one unknown token is held, delivery after delivery."""

    def __contains__(self, token: object) -> bool:
        return token != "unknown"


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return asyncio.run(run())


@pytest.fixture(scope="module")
def invocations(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The spans of the invocations, in their order."""
    return [span for span in report["spans"] if span["kind"] == "SpanKind.CONSUMER"]


def context(traceparent: str) -> list[int]:
    """A W3C trace context as numbers."""
    _, trace_id, span_id, _ = traceparent.split("-")
    return [int(trace_id, 16), int(span_id, 16)]


def points(report: dict[str, Any], metric: str) -> list[dict[str, Any]]:
    """The series of a metric."""
    return [
        point
        for resource in report["metrics"]["resource_metrics"]
        for scope in resource["scope_metrics"]
        for one in scope["metrics"]
        if one["name"] == metric
        for point in one["data"]["data_points"]
    ]


def counts(report: dict[str, Any], metric: str) -> dict[tuple[Any, ...], Any]:
    """A counter's values, by the values of its attributes."""
    return {tuple(point["attributes"].values()): point["value"] for point in points(report, metric)}


def test_every_invocation_ends_as_it_should(report: dict[str, Any]) -> None:
    """Only the batch whose poison cannot be parked fails; the settlement that fails does not."""
    assert [error is None for error in report["errors"]] == [True, True, True, True, False]


def test_a_single_message_continues_its_producers_trace(invocations: list[dict[str, Any]]) -> None:
    """And links to the invocation that the host told the worker of."""
    span = invocations[_MESSAGE]
    assert (span["name"], span["parent"], span["links"]) == ("process orders", context(PRODUCERS[0]), [context(HOSTS)])


def test_a_batch_links_to_its_producers_beneath_the_hosts_invocation(invocations: list[dict[str, Any]]) -> None:
    """One span for all events, one link for each that says where it was sent."""
    span = invocations[_BATCH]
    assert span["name"] == "process stock-movements"
    assert (span["parent"], span["links"]) == (context(HOSTS), [context(producer) for producer in PRODUCERS[1:]])
    assert (span["attributes"]["processed"], span["attributes"]["messaging.batch.message_count"]) == (3, 3)


def test_requests_to_the_database_are_beneath_their_deliveries(
    report: dict[str, Any], invocations: list[dict[str, Any]]
) -> None:
    """A first delivery is one commit, a batch one for each partition; what is known or rejected unread asks nothing."""
    asked = [
        [span["name"] for span in report["spans"] if span["parent"] == invocation["id"]] for invocation in invocations
    ]
    assert [sorted(names) for names in asked[:_FAILED_BATCH]] == [
        ["commit orders"],
        [],
        [],
        ["commit stock", "commit stock", "read stock", "read stock"],  # the handler reads the level that it changes
    ]
    commit = next(span for span in report["spans"] if span["name"] == "commit orders")
    assert (commit["attributes"]["status"], commit["attributes"]["requestCharge"] > 0) == (200, True)


def test_spans_tell_how_it_ended(invocations: list[dict[str, Any]]) -> None:
    """The copy was known from the cache; the failed batch says what it failed of, by class."""
    assert [invocations[n]["attributes"]["outcome"] for n in (_MESSAGE, _COPY, _KEYLESS)] == [
        "processed",
        "duplicate",
        "rejected",
    ]
    failed = invocations[_FAILED_BATCH]
    assert (failed["status"]["status_code"], failed["attributes"]["error"]) == ("ERROR", "TransientFailure")


def test_deliveries_are_counted(report: dict[str, Any]) -> None:
    """By consumer, outcome and reason; an event is counted although its batch failed after it."""
    assert counts(report, "idempotency.deliveries") == {
        ("place_order", "processed"): 1,
        ("place_order", "duplicate"): 1,
        ("place_order", "rejected", "NoStableKey"): 1,
        ("record_movement", "processed"): 4,
        ("record_movement", "rejected", "Malformed"): 1,
    }
    assert counts(report, "idempotency.settlement.failures") == {("orders", "complete"): 1}
    assert counts(report, "idempotency.parked") == {}
    assert counts(report, "idempotency.store.round_trips")["commit", "orders", 200] == 1
    [age] = points(report, "idempotency.duplicate.age")
    assert (age["attributes"], age["count"]) == ({"consumer": "place_order"}, 1)


def test_no_metric_of_the_app_tells_messages_apart(report: dict[str, Any]) -> None:
    """However many messages come, the number of series stays."""
    told = json.dumps([points(report, name) for name in ("idempotency.deliveries", "idempotency.event.lag")])
    assert not [id for id in ("1001", "m-1", "sku-1", "c-9") if id in told]


def test_log_lines_have_fields_and_belong_to_their_trace(
    report: dict[str, Any], invocations: list[dict[str, Any]]
) -> None:
    """What becomes customDimensions, and the ids that lead from a line to its trace."""
    lines = [line for line in report["logs"] if (line["attributes"] or {}).get("event")]
    events = [(line["attributes"]["event"], line["attributes"]["outcome"]) for line in lines]
    assert events[:4] == [
        ("DeliveryEnded", "processed"),
        ("DeliveryEnded", "duplicate"),
        ("SettlementFailed", "duplicate"),
        ("DeliveryEnded", "rejected"),
    ]
    known = {"consumer": "place_order", "messageId": "1001/placed", "correlationId": "c-9"}
    for line, attempt in zip(lines[:3], (1, 2, 2), strict=True):
        attributes = line["attributes"]
        assert {name: attributes[name] for name in known} == known
        assert (attributes["attempt"], len(attributes["key"])) == (attempt, len(lines[0]["attributes"]["key"]))
    assert lines[0]["attributes"]["key"] == lines[2]["attributes"]["key"]
    assert [int(lines[0][name], 16) for name in ("trace_id", "span_id")] == invocations[_MESSAGE]["id"]
    assert "sku-1" not in json.dumps(lines[:4])  # of the order's body
