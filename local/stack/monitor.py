"""The monitor's part of the stack: how it is started, how an app is told of it, and a typed client of what it shows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .channel import Channel
from .launcher import Launcher, module

ANNOUNCEMENT = r"monitor ready http://\S+?:(\d+)"

INSTRUMENTATION_KEY = "00000000-0000-4000-8000-10ca1a991001"
"""The only one that the monitor knows."""

EXPORT_MILLISECONDS = 500
"""How often an app sends what it has: soon enough for whoever watches, and a worker that is killed loses little.
Azure Monitor's own rhythm is a minute for metrics."""


@dataclass(frozen=True, slots=True)
class Metric:
    """All that was sent of one metric with one combination of attributes."""

    name: str
    """Of the metric."""
    attributes: dict[str, str]
    """By name."""
    sum: float
    """Of all measurements; of a counter, how much was counted."""
    count: int
    """How many measurements; of a counter, how often it was sent."""
    max: float
    """The greatest measurement."""

    @classmethod
    def from_json(cls, metric: dict[str, Any]) -> Self:
        return cls(metric["name"], metric["attributes"], metric["sum"], metric["count"], metric["max"])


@dataclass(frozen=True, slots=True)
class Monitor:
    """The running monitor."""

    channel: Channel
    """Its address."""
    traces: Path
    """The file with one span a line."""
    logs: Path
    """The file with one log line a line, fields included."""

    def settings(self) -> dict[str, str]:
        """The app settings that make the worker's Azure Monitor distro send everything here, and soon."""
        endpoint = f"{self.channel.base}/"
        milliseconds = str(EXPORT_MILLISECONDS)
        return {
            "APPLICATIONINSIGHTS_CONNECTION_STRING": (
                f"InstrumentationKey={INSTRUMENTATION_KEY};IngestionEndpoint={endpoint};LiveEndpoint={endpoint}"
            ),
            "PYTHON_APPLICATIONINSIGHTS_ENABLE_TELEMETRY": "true",
            "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "azure_sdk,requests,urllib,urllib3",
            "OTEL_TRACES_SAMPLER": "always_on",
            "OTEL_METRIC_EXPORT_INTERVAL": milliseconds,
            "OTEL_BSP_SCHEDULE_DELAY": milliseconds,
            "OTEL_BLRP_SCHEDULE_DELAY": milliseconds,
            # What the distro tells Microsoft of itself, and asks Microsoft for.
            "APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL": "true",
            "APPLICATIONINSIGHTS_SDKSTATS_DISABLED": "true",
            "APPLICATIONINSIGHTS_CONTROLPLANE_DISABLED": "true",
        }

    async def metrics(self) -> list[Metric]:
        """Everything that was sent so far, by name and attributes."""
        answer = await self.channel.call("GET", "/_local/metrics")
        return [Metric.from_json(metric) for metric in answer["metrics"]]


async def start_monitor(launcher: Launcher, port: int) -> Monitor:
    """Start the monitor; its files lie beside the parts' logs. Raises PartFailed, ControlFailed."""
    command = module("local.monitor", "--port", str(port), "--directory", str(launcher.logs))
    (real_port,) = await launcher.launch("monitor", command, ANNOUNCEMENT, (port,))
    channel = launcher.channel("monitor", real_port)
    files = await channel.call("GET", "/_local/ready")
    return Monitor(channel, Path(files["traces"]), Path(files["logs"]))
