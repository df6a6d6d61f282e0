"""Runs in a process of its own: the app in Microsoft's worker library, with somebody who listens to OpenTelemetry.

`python -m tests.telemetry_in_worker --host H --port P` invokes the triggers as `INVOCATIONS` says and writes one JSON
object: the invocations' errors, and all spans, metrics and log records. Host and port are read by the app.
"""

import asyncio
import json
import logging
import sys
from dataclasses import replace
from typing import Any

from azure.functions.meta import Datum
from opentelemetry import metrics, trace
from opentelemetry.instrumentation.logging.handler import LoggingHandler
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from local.host import wire
from local.host.worker import runtime

from . import event_batches, examples
from .event_batches import Sent
from .run_in_worker import APP

PRODUCERS = [f"00-{n:032x}-{n:016x}-01" for n in (1, 2, 3)]
"""Traces in which messages are sent."""
HOSTS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
"""The trace context that the host gives every invocation."""


def movement(movement_id: str, sku: str, *, producer: str | None = None) -> Sent:
    """A stock movement, sent in a producer's trace."""
    sent = event_batches.movement(movement_id, sku)
    return replace(sent, properties={"traceparent": producer} if producer else {})


def message(attempt: int = 1, message_id: str | None = "1001/placed", lock: str = examples.LOCK_TOKEN) -> wire.Invoke:
    """A placed order, sent in a producer's trace."""
    properties = wire.TypedData(json=json.dumps({"Diagnostic-Id": PRODUCERS[0]}))
    metadata = {
        "UserProperties": properties,
        "ApplicationProperties": properties,
        "DeliveryCount": wire.TypedData(json=str(attempt)),
        "LockToken": wire.TypedData(string=lock),
        "CorrelationId": wire.TypedData(string="c-9"),
        "EnqueuedTimeUtc": wire.TypedData(json='"2026-01-31T12:00:00"'),
    }
    if message_id:
        metadata["MessageId"] = wire.TypedData(string=message_id)
    body = wire.TypedData(binary=examples.place_order_body())
    return wire.Invoke("1", "place_order", "message", body, metadata, HOSTS)


def batch(*sent: Sent) -> wire.Invoke:
    """Stock movements as the host hands them over."""
    metadata = {name: _typed(value) for name, value in event_batches.metadata(sent).items()}
    bodies = wire.TypedData(binaries=tuple(event.body for event in sent))
    return wire.Invoke("2", "record_movement", "events", bodies, metadata, HOSTS)


def _typed(value: Datum) -> wire.TypedData:
    match value.type:
        case "json":
            return wire.TypedData(json=value.value)
        case "collection_string":
            return wire.TypedData(strings=tuple(value.value.string))
        case "collection_sint64":
            return wire.TypedData(integers=tuple(value.value.sint64))
    raise AssertionError(f"no array of a batch has type {value.type}")


INVOCATIONS = [
    message(),
    message(attempt=2, lock="unknown"),
    message(message_id=None),
    batch(
        movement("m-1", "sku-1", producer=PRODUCERS[1]),
        movement("m-2", "sku-2", producer=PRODUCERS[2]),
        movement("m-3", "sku-1"),
    ),
    batch(movement("m-4", "sku-1"), Sent(body=b"not JSON", message_id="m-5", key="sku-1")),
]
"""Processed; a copy that cannot be settled; without a key; a batch; one with an event that cannot be parked."""


async def main() -> dict[str, Any]:
    meters, spans, logs = InMemoryMetricReader(), InMemorySpanExporter(), InMemoryLogRecordExporter()
    metrics.set_meter_provider(MeterProvider([meters]))
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(tracers)
    loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
    logging.getLogger().addHandler(LoggingHandler(logger_provider=loggers))
    logging.getLogger().setLevel(logging.INFO)
    indexed = await runtime.index(str(APP))
    assert isinstance(indexed, wire.Indexed), indexed
    ids = {function.name: function.function_id for function in indexed.functions}
    errors = []
    for invocation in INVOCATIONS:
        known = replace(invocation, function_id=ids[invocation.function_id])
        # As in the worker: each invocation is a task of its own.
        errors.append((await asyncio.create_task(runtime.invoke(known))).error)
    measured = meters.get_metrics_data()
    return {
        "errors": errors,
        "spans": [_span(span) for span in spans.get_finished_spans()],
        "metrics": json.loads(measured.to_json()) if measured else {},
        "logs": [json.loads(record.to_json()) for record in logs.get_finished_logs()],
    }


def _span(span: ReadableSpan) -> dict[str, Any]:
    """As `to_json` tells it, with ids as numbers that compare."""
    told: dict[str, Any] = json.loads(span.to_json())
    told["links"] = [[link.context.trace_id, link.context.span_id] for link in span.links]
    told["id"] = [span.context.trace_id, span.context.span_id]
    told["parent"] = [span.parent.trace_id, span.parent.span_id] if span.parent else None
    return told


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main())))
