"""Somebody who listens: `Telemetry` with OpenTelemetry's in-memory exporters. And examples of what is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from shared.idempotency import (
    Delivery,
    DeliveryEnded,
    Duplicate,
    Event,
    Outcome,
    Parked,
    Processed,
    Reason,
    Rejected,
    Retrying,
    SettlementFailed,
    Stale,
    StoreCall,
    TransientFailure,
)
from shared.telemetry import Telemetry
from tests import examples
from tests.clock import ManualClock

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEY = "5f2c"


@dataclass(frozen=True)
class Point:
    """One series of a metric."""

    attributes: Mapping[str, Any]
    sum: float
    count: int


@dataclass
class Listener:
    """Hears all that one `Telemetry` tells."""

    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        self._metrics = InMemoryMetricReader()
        self._spans = InMemorySpanExporter()
        # Otherwise both would stay until the process ends, for their own exit handlers.
        meters = MeterProvider([self._metrics], shutdown_on_exit=False)
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.tracer = tracers.get_tracer("test")
        self.telemetry = Telemetry(meters.get_meter("test"), self.tracer, self.clock)

    def metrics(self) -> dict[str, list[Point]]:
        """Every series by metric."""
        data = self._metrics.get_metrics_data()
        return {
            metric.name: [_point(point) for point in metric.data.data_points]
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def units(self) -> dict[str, tuple[str, str]]:
        """Kind and unit by metric."""
        data = self._metrics.get_metrics_data()
        return {
            metric.name: ("counter" if hasattr(metric.data, "is_monotonic") else "histogram", metric.unit)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def spans(self) -> list[ReadableSpan]:
        """Every span that is over, in the order of their ends."""
        return list(self._spans.get_finished_spans())


def ended(outcome: Outcome | None = None, error: Exception | None = None, **changes: Any) -> DeliveryEnded:
    """The end of a delivery."""
    parts: dict[str, Any] = {
        "consumer": "place_order",
        "delivery": examples.delivery(b"secret body", attempt=2, correlation_id="c-9", enqueued_at=NOON),
        "key": KEY,
        "outcome": outcome,
        "error": error,
        "seconds": 0.25,
    }
    return DeliveryEnded(**parts | changes)


def retrying(delivery: Delivery | None = None) -> Retrying:
    """A delivery that waits."""
    delivery = delivery or examples.delivery(b"secret body", attempt=2, correlation_id="c-9")
    cause = TransientFailure("503")
    return Retrying(consumer="place_order", delivery=delivery, key=KEY, cause=cause, delay=0.5)


def store_call(operation: str = "commit", status: int = 200, seconds: float = 0.004) -> StoreCall:
    """A request to the database."""
    return StoreCall(
        operation=operation,
        container="orders",
        status=status,
        request_charge=23.1,
        started_at=NOON,
        seconds=seconds,
    )


def settlement_failed() -> SettlementFailed:
    """A broker that could not be told."""
    return SettlementFailed(
        consumer="place_order",
        source="orders",
        message_id="1001/placed",
        settlement="complete",
        error=OSError("gone"),
    )


def parked(delivery: Delivery | None = None) -> Parked:
    """An event in the parking lot."""
    delivery = delivery or examples.delivery(b"secret body", attempt=2, correlation_id="c-9")
    return Parked(consumer="place_order", delivery=delivery, reason=Reason.MALFORMED)


def everything() -> list[Event]:
    """Every kind of event, with every kind of outcome."""
    return [
        ended(Processed({"secret": "result"})),
        ended(Duplicate(None, NOON)),
        ended(Stale("overtaken")),
        *(ended(Rejected(reason, "why")) for reason in Reason),
        ended(error=KeyError("secret")),
        *(store_call(operation) for operation in ("read", "read_many", "commit")),
        retrying(),
        settlement_failed(),
        parked(),
    ]


def _point(point: Any) -> Point:
    if isinstance(point, HistogramDataPoint):
        return Point(dict(point.attributes or {}), point.sum, point.count)
    return Point(dict(point.attributes or {}), point.value, 1)
