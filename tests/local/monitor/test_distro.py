"""Azure Monitor's own distro, configured by Microsoft's worker library, sends here what it would send to Azure."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from local.monitor import Monitor
from local.stack import monitor as stack_monitor
from local.stack.channel import Channel
from tests.child_process import report_of
from tests.settlement_service import serving


async def run_app(settings: dict[str, str]) -> Any:
    """The app in a worker with these settings, and one message without a key."""
    async with serving() as service:
        host, port = service.address.split(":")
        arguments = ("--host", host, "--port", port, "--invoke", "place_order")
        return await report_of("tests.run_in_worker", *arguments, settings=settings)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What arrived: metrics, spans and log lines."""

    async def run() -> dict[str, Any]:
        directory = tmp_path_factory.mktemp("monitor")
        async with Monitor.serving(directory=directory) as monitor, aiohttp.ClientSession() as session:
            channel = Channel("monitor", monitor.endpoint.rstrip("/"), session)
            part = stack_monitor.Monitor(channel, monitor.traces, monitor.logs)
            report = await run_app(part.settings())
            assert report["failure"] is None
            return {
                "metrics": {metric.name: metric for metric in await part.metrics()},
                "spans": [json.loads(line) for line in monitor.traces.read_text().splitlines()],
                "logs": [json.loads(line) for line in monitor.logs.read_text().splitlines()],
            }

    return asyncio.run(run())


def test_metrics_arrive_with_their_attributes(told: dict[str, Any]) -> None:
    """As text, which is how Application Insights keeps them."""
    deliveries = told["metrics"]["idempotency.deliveries"]
    assert deliveries.sum == 1
    assert deliveries.attributes == {"consumer": "place_order", "outcome": "rejected", "reason": "NoStableKey"}


def test_a_delivery_arrives_as_a_request_in_the_hosts_trace(told: dict[str, Any]) -> None:
    """The worker attaches the host's context, and our span lies beneath it."""
    [span] = [span for span in told["spans"] if span["kind"] == "request"]
    assert (span["name"], span["ok"]) == ("process orders", True)
    assert (span["trace"], span["parent"]) == ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
    assert (span["attributes"]["outcome"], span["attributes"]["consumer"]) == ("rejected", "place_order")


def test_fields_of_log_lines_arrive_as_custom_dimensions(told: dict[str, Any]) -> None:
    """Each once, in the trace of its delivery."""
    [span] = [span for span in told["spans"] if span["kind"] == "request"]
    [line] = [line for line in told["logs"] if line["fields"].get("event") == "DeliveryEnded"]
    assert (line["level"], line["trace"], line["span"]) == ("warning", span["trace"], span["span"])
    expected = {"consumer": "place_order", "outcome": "rejected", "reason": "NoStableKey", "attempt": "1"}
    assert expected.items() <= line["fields"].items()


def test_each_request_is_told_once(told: dict[str, Any]) -> None:
    """The SDKs' own spans are switched off; a settlement is no HTTP request."""
    assert [span["name"] for span in told["spans"]] == ["process orders"]
