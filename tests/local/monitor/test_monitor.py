"""What the stand-in for Application Insights takes, refuses and shows, over real HTTP."""

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from local.monitor import INSTRUMENTATION_KEY, Monitor
from local.stack import monitor as stack_monitor

TRACK = "v2.1/track"


@pytest.fixture
async def monitor(tmp_path: Path) -> AsyncIterator[Monitor]:
    async with Monitor.serving(directory=tmp_path) as running:
        yield running


def item(kind: str, data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A telemetry item as exporters send it."""
    envelope = {
        "name": "Microsoft.ApplicationInsights",
        "time": "2026-01-31T12:00:00.000000Z",
        "iKey": INSTRUMENTATION_KEY,
        "tags": {"ai.operation.id": "a" * 32, "ai.operation.parentId": "b" * 16},
        "data": {"baseType": kind, "baseData": {"ver": 2, **data}},
    }
    return envelope | changes


def metric(value: float, count: int | None = None, name: str = "orders", **attributes: str) -> dict[str, Any]:
    """So much of a metric."""
    point = {"name": name, "value": value, "count": count, "min": None, "max": None}
    return item("MetricData", {"metrics": [point], "properties": attributes})


def span(**data: Any) -> dict[str, Any]:
    """A request to a database, 1.5 ms."""
    parts = {"id": "c" * 16, "name": "commit orders", "duration": "0.00:00:00.001500", "success": True}
    return item("RemoteDependencyData", parts | data)


async def post(monitor: Monitor, body: bytes | list[Any], path: str = TRACK, **headers: str) -> tuple[int, Any]:
    """Status and answer."""
    if isinstance(body, list):
        body = json.dumps(body).encode()
    async with (
        aiohttp.ClientSession() as session,
        session.post(monitor.endpoint + path, data=body, headers=headers) as response,
    ):
        text = await response.text()
        return response.status, json.loads(text) if text.startswith("{") else text


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


async def test_metrics_are_added_up(monitor: Monitor) -> None:
    """Exporters send what was added since the last time; each combination of attributes is a sum of its own."""
    await post(monitor, [metric(2, outcome="processed"), metric(3, outcome="processed"), metric(1, outcome="failed")])
    assert monitor.metrics.as_json() == [
        {"name": "orders", "attributes": {"outcome": "failed"}, "sum": 1.0, "count": 1, "min": 1.0, "max": 1.0},
        {"name": "orders", "attributes": {"outcome": "processed"}, "sum": 5.0, "count": 2, "min": 2.0, "max": 3.0},
    ]


async def test_a_histogram_keeps_its_extremes(monitor: Monitor) -> None:
    """Sum, count, least and greatest are what comes over the wire, and nothing else."""
    for least, greatest in ((0.1, 0.9), (0.05, 0.5)):
        sample = metric(1.0, 4)
        sample["data"]["baseData"]["metrics"][0] |= {"min": least, "max": greatest}
        await post(monitor, [sample])
    [total] = monitor.metrics.as_json()
    assert (total["sum"], total["count"], total["min"], total["max"]) == (2.0, 8, 0.05, 0.9)


@pytest.mark.parametrize("path", [TRACK, f"/{TRACK}"], ids=["as documented", "as the exporter joins it"])
async def test_gzip_and_lines_are_taken_too(monitor: Monitor, path: str) -> None:
    """The forms in which other SDKs send: packed, one object a line."""
    packed = gzip.compress(b"\n".join(json.dumps(metric(1)).encode() for _ in range(3)))
    status, answer = await post(monitor, packed, path, **{"Content-Encoding": "gzip"})
    assert (status, answer) == (200, {"itemsReceived": 3, "itemsAccepted": 3, "errors": []})


@pytest.mark.parametrize(
    "wrong",
    [
        metric(1) | {"iKey": "00000000-0000-4000-8000-000000000000"},
        metric(1) | {"time": "yesterday"},
        item("MetricData", {"metrics": [{"name": "orders"}]}),
        item("SomethingData", {}),
        item("EventData", {"name": "clicked"}),
        span(duration="soon"),
        {"name": "orders"},
        "text",
    ],
    ids=["key", "time", "no value", "unknown type", "unsupported type", "duration", "fields", "no object"],
)
async def test_what_is_wrong_is_refused_by_item(monitor: Monitor, wrong: Any) -> None:
    """206 with the index of what was not taken; the rest is kept. 400 when nothing is left."""
    status, answer = await post(monitor, [metric(1), wrong])
    assert (status, answer["itemsReceived"], answer["itemsAccepted"]) == (206, 2, 1)
    assert [(error["index"], error["statusCode"]) for error in answer["errors"]] == [(1, 400)]
    status, answer = await post(monitor, [wrong])
    assert (status, answer["itemsAccepted"]) == (400, 0)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff"], ids=["empty", "cut", "not text"])
async def test_a_body_that_is_no_json_is_refused(monitor: Monitor, body: bytes) -> None:
    """Nothing of it is taken."""
    status, _ = await post(monitor, body)
    assert status == 400


async def test_a_span_is_a_line_that_can_be_read(monitor: Monitor) -> None:
    """When, which trace, what, how long, and what it links to."""
    links = json.dumps([{"operation_Id": "d" * 32, "id": "e" * 16}])
    await post(monitor, [span(properties={"status": "200", "_MS.links": links})])
    assert lines(monitor.traces) == [
        {
            "time": "2026-01-31T12:00:00.000+00:00",
            "trace": "a" * 32,
            "span": "c" * 16,
            "parent": "b" * 16,
            "kind": "dependency",
            "name": "commit orders",
            "ms": 1.5,
            "ok": True,
            "attributes": {"status": "200"},
            "links": [f"{'d' * 32} {'e' * 16}"],
        }
    ]


async def test_log_lines_and_exceptions_go_to_a_file_of_their_own(monitor: Monitor) -> None:
    """With their fields, and with the trace that they belong to."""
    told = {"severityLevel": 2, "properties": {"consumer": "place_order"}}
    details = [{"typeName": "KeyError", "message": "sku", "stack": "…"}]
    await post(
        monitor,
        [item("MessageData", {"message": "rejected", **told}), item("ExceptionData", {"exceptions": details, **told})],
    )
    found = lines(monitor.logs)
    assert [(line["text"], line["level"], line["fields"]) for line in found] == [
        (text, "warning", {"consumer": "place_order"}) for text in ("rejected", "sku")
    ]
    assert found[0]["trace"] == "a" * 32
    assert lines(monitor.traces) == []


async def test_live_metrics_are_told_that_nobody_watches(monitor: Monitor) -> None:
    """The distro cannot be told not to ask, so it is answered as by a portal that is closed."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(monitor.endpoint + "QuickPulseService.svc/ping") as response,
    ):
        assert (response.status, response.headers["x-ms-qps-subscribed"]) == (200, "false")


async def test_metrics_can_be_begun_anew(monitor: Monitor) -> None:
    """For whoever measures a part of a run."""
    await post(monitor, [metric(1)])
    async with aiohttp.ClientSession() as session, session.delete(monitor.endpoint + "_local/metrics") as response:
        assert response.status == 204
    async with aiohttp.ClientSession() as session, session.get(monitor.endpoint + "_local/metrics") as response:
        assert await response.json() == {"metrics": []}


def test_the_stack_knows_the_monitors_key() -> None:
    """Written down twice, for the two are programs of their own."""
    assert stack_monitor.INSTRUMENTATION_KEY == INSTRUMENTATION_KEY
