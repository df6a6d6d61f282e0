"""A delivery never fails for its telemetry."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from shared.idempotency import Duplicate, IdempotentConsumer, InboxMarker, Processed, RetentionWindow
from shared.retail.orders import PlaceOrder, order_id_of, place_order
from shared.stores.memory import MemoryStore
from shared.telemetry import Telemetry
from tests import examples
from tests.listening import Listener, everything


class Broken:
    """Whatever is asked of it raises, now or when it is called."""

    def __getattr__(self, name: str) -> Any:
        def fail(*_: Any, **__: Any) -> Any:
            raise RuntimeError(f"broken {name}")

        return fail


class BrokenMeter:
    """A meter whose instruments can be made and not used."""

    def create_counter(self, *_: Any, **__: Any) -> Any:
        return Broken()

    create_histogram = create_counter


class UnreachableSpans(SpanExporter):
    def export(self, spans: Any) -> Any:
        raise ConnectionError("nobody there")


class UnreachableMetrics(MetricExporter):
    def export(self, metrics_data: MetricsData, timeout_millis: float = 0, **_: Any) -> MetricExportResult:
        raise ConnectionError("nobody there")

    def force_flush(self, timeout_millis: float = 0) -> bool:
        return False

    def shutdown(self, timeout_millis: float = 0, **_: Any) -> None:
        pass


async def consumed_twice(telemetry: Telemetry) -> list[type]:
    """What becomes of a message and its copy."""
    consumer = IdempotentConsumer(
        name="place_order",
        parse=PlaceOrder.from_delivery,
        partition=order_id_of,
        handler=place_order,
        store=MemoryStore(partition_property="orderId", hook=telemetry.hook),
        placement=InboxMarker(RetentionWindow(60)),
        hook=telemetry.hook,
    )
    outcomes = []
    for _ in range(2):
        delivery = examples.delivery()
        with telemetry.message("place_order", "orders", [delivery]):
            outcomes.append(type(await consumer.consume(delivery)))
    return outcomes


@pytest.fixture
def broken_log() -> Iterator[None]:
    """A log handler that raises, as a handler must not."""

    class Raising(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("disk full")

    handler = Raising()
    logger = logging.getLogger("idempotency")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.usefixtures("broken_log")
async def test_broken_instruments_tracers_and_logs_are_left_out() -> None:
    """Whatever is broken, the message is processed and its copy found out."""
    broken: Any = Broken()
    meter: Any = BrokenMeter()
    assert await consumed_twice(Telemetry(meter, broken)) == [Processed, Duplicate]


async def test_one_broken_signal_does_not_silence_the_others(caplog: pytest.LogCaptureFixture) -> None:
    """Metrics cannot be told; the log line is there all the same, and says what was left out."""
    meter: Any = BrokenMeter()
    with caplog.at_level(logging.INFO, logger="idempotency"):
        await consumed_twice(Telemetry(meter, Listener().tracer))
    assert [record.outcome for record in caplog.records if hasattr(record, "outcome")] == ["processed", "duplicate"]
    assert "Telemetry failed" in caplog.text


async def test_an_unreachable_service_does_not_touch_a_delivery() -> None:
    """Exporting is somebody else's thread; what it raises stays there."""
    reader = PeriodicExportingMetricReader(UnreachableMetrics(), export_interval_millis=1)
    meters = MeterProvider([reader], shutdown_on_exit=False)
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(UnreachableSpans(), schedule_delay_millis=1))
    try:
        telemetry = Telemetry(meters.get_meter("test"), tracers.get_tracer("test"))
        assert await consumed_twice(telemetry) == [Processed, Duplicate]
    finally:
        tracers.shutdown()
        meters.shutdown()


def test_without_a_listener_everything_is_told_to_nobody() -> None:
    """No provider is configured in this process: the API does nothing, and that is no failure."""
    telemetry = Telemetry.of_process()
    with telemetry.message("place_order", "orders", [examples.delivery()]):
        for event in everything():
            telemetry.hook(event)


async def test_what_a_handler_raises_goes_through_an_observed_invocation() -> None:
    """Observation changes nothing of how an invocation ends."""
    telemetry = Listener().telemetry
    with pytest.raises(KeyError, match="secret"), telemetry.batch("c", "hub", []):
        raise KeyError("secret")
