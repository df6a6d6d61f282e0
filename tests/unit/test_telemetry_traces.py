"""From invocations to spans, heard by OpenTelemetry's in-memory exporter."""

import asyncio
from datetime import timedelta

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from shared.idempotency import Delivery, Processed, Property, Reason, Rejected, TransientFailure
from tests import examples
from tests.listening import KEY, NOON, Listener, ended, store_call

_TRACE, _SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
_PARENT = f"00-{_TRACE}-{_SPAN}-01"
_NANOSECONDS = 1_000_000_000


@pytest.fixture
def listener() -> Listener:
    return Listener()


def sent(message_id: str = "1001/placed", **properties: Property) -> Delivery:
    """A delivery with these application properties."""
    return examples.delivery(message_id=message_id, properties=properties)


def sent_in(trace_id: int, span_id: int) -> Delivery:
    """A delivery whose producer was in a trace of its own."""
    return sent(f"m-{trace_id}-{span_id}", traceparent=f"00-{trace_id:032x}-{span_id:016x}-01")


def link_ids(span: ReadableSpan) -> list[tuple[int, int]]:
    return [(link.context.trace_id, link.context.span_id) for link in span.links]


def consume(listener: Listener, delivery: Delivery, error: Exception | None = None) -> ReadableSpan:
    """One invocation with one message; its span."""
    with listener.telemetry.message("place_order", "orders", [delivery]):
        listener.telemetry.hook(ended(None if error else Processed(None), error, delivery=delivery))
        if error:
            raise error
    return listener.spans()[-1]


def receive(listener: Listener, *deliveries: Delivery) -> ReadableSpan:
    """One invocation with a batch; its span."""
    with listener.telemetry.batch("record_movement", "stock-movements", deliveries):
        for delivery in deliveries:
            listener.telemetry.hook(ended(Processed(None), delivery=delivery))
    return listener.spans()[-1]


@pytest.mark.parametrize(
    "properties",
    [
        {"traceparent": _PARENT},
        {"Diagnostic-Id": _PARENT},
        {"traceparent": _PARENT.encode(), "tracestate": b"vendor=1"},
        {"traceparent": "no trace context", "Diagnostic-Id": _PARENT},
    ],
    ids=["W3C", "Azure", "bytes", "one of two"],
)
def test_a_message_continues_its_producers_trace(listener: Listener, properties: dict[str, Property]) -> None:
    """From the order form to the database it is one trace, however the producer's SDK spells it."""
    span = consume(listener, sent(**properties))
    assert span.parent is not None
    assert (f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}") == (_TRACE, _SPAN)
    assert (span.name, span.kind) == ("process orders", SpanKind.CONSUMER)


@pytest.mark.parametrize(
    "value",
    [None, "", 7, "|1f.2.", "00-0-0-00", f"00-{'0' * 32}-{_SPAN}-01"],
    ids=["none", "empty", "number", "old", "short", "zero"],
)
def test_what_is_no_trace_context_begins_a_trace(listener: Listener, value: Property) -> None:
    """A producer that writes nonsense into the property does no harm."""
    span = consume(listener, sent(**{"Diagnostic-Id": value}))
    assert span.parent is None
    assert span.links == ()


def test_a_hosts_invocation_in_another_trace_is_linked(listener: Listener) -> None:
    """The host began a trace of its own; both can be followed."""
    with listener.tracer.start_as_current_span("invocation") as host:
        span = consume(listener, sent(traceparent=_PARENT))
    assert f"{span.context.trace_id:032x}" == _TRACE
    assert link_ids(span) == [(host.get_span_context().trace_id, host.get_span_context().span_id)]


def test_a_host_that_continued_the_producers_trace_is_the_parent(listener: Listener) -> None:
    """Then the host's span stands between the producer's and ours."""
    producer = trace.SpanContext(int(_TRACE, 16), int(_SPAN, 16), is_remote=True, trace_flags=trace.TraceFlags(1))
    there = trace.set_span_in_context(trace.NonRecordingSpan(producer))
    with listener.tracer.start_as_current_span("invocation", there) as host:
        span = consume(listener, sent(traceparent=_PARENT))
    assert span.parent == host.get_span_context()
    assert span.links == ()


def test_without_a_producer_the_hosts_invocation_is_the_parent(listener: Listener) -> None:
    """Nothing of the message says where it came from."""
    with listener.tracer.start_as_current_span("invocation") as host:
        span = consume(listener, sent())
    assert span.parent == host.get_span_context()


def test_a_batch_links_to_each_events_producer(listener: Listener) -> None:
    """It cannot continue many traces: it stays in the host's, and links to each producer once."""
    with listener.tracer.start_as_current_span("invocation") as host:
        span = receive(listener, sent_in(1, 1), sent_in(2, 2), sent_in(1, 1), sent("m-9"), sent_in(1, 3))
    assert span.parent == host.get_span_context()
    assert link_ids(span) == [(1, 1), (2, 2), (1, 3)]
    assert (span.name, span.kind) == ("process stock-movements", SpanKind.CONSUMER)


def test_a_batch_of_one_event_links_too(listener: Listener) -> None:
    """How many came together by chance does not change what a trace looks like."""
    span = receive(listener, sent_in(1, 1))
    assert (span.parent, link_ids(span)) == (None, [(1, 1)])


def test_a_span_tells_which_message_it_was_and_how_it_ended(listener: Listener) -> None:
    """What is searched for is on the span itself."""
    delivery = examples.delivery(attempt=3, correlation_id="c-9")
    with listener.telemetry.message("place_order", "orders", [delivery]):
        listener.telemetry.hook(ended(Rejected(Reason.MALFORMED, "why"), delivery=delivery))
    [span] = listener.spans()
    told = {name: value for name, value in (span.attributes or {}).items() if "." not in name}
    assert told == {
        "consumer": "place_order",
        "messageId": "1001/placed",
        "correlationId": "c-9",
        "attempt": 3,
        "key": KEY,
        "outcome": "rejected",
        "reason": "Malformed",
    }
    assert span.status.status_code is StatusCode.UNSET


def test_a_span_of_many_deliveries_counts_their_ends(listener: Listener) -> None:
    """Each delivery has a log line of its own; the span says how many of each."""
    batch = [sent(f"m-{n}") for n in range(3)]
    with listener.telemetry.batch("record_movement", "stock-movements", batch):
        for delivery in batch[:2]:
            listener.telemetry.hook(ended(Processed(None), delivery=delivery))
        listener.telemetry.hook(ended(Rejected(Reason.MALFORMED, "why"), delivery=batch[2]))
    [span] = listener.spans()
    attributes = dict(span.attributes or {})
    assert (attributes["processed"], attributes["rejected"]) == (2, 1)
    assert attributes["messaging.batch.message_count"] == 3
    assert attributes.keys().isdisjoint({"messageId", "key", "outcome", "duplicate"})


def test_an_invocation_that_raises_fails_its_span(listener: Listener) -> None:
    """By the exception's class alone, for its text may quote the message."""
    with pytest.raises(TransientFailure):
        consume(listener, sent(), TransientFailure("secret"))
    [span] = listener.spans()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "TransientFailure")
    assert (span.attributes or {})["error"] == "TransientFailure"
    assert "secret" not in span.to_json()


def test_a_request_to_the_database_is_a_span_beneath_the_deliverys(listener: Listener) -> None:
    """Told when it is over, it still lies where it was in time."""
    with listener.telemetry.message("place_order", "orders", [sent()]):
        listener.telemetry.hook(store_call(seconds=0.5))
    request, delivery = listener.spans()
    assert request.parent == delivery.context
    assert (request.name, request.kind) == ("commit orders", SpanKind.CLIENT)
    began, over = (int((NOON + timedelta(seconds=seconds)).timestamp() * _NANOSECONDS) for seconds in (0, 0.5))
    assert (request.start_time, request.end_time) == (began, over)
    attributes = request.attributes or {}
    assert [attributes[name] for name in ("operation", "container", "status", "requestCharge")] == [
        "commit",
        "orders",
        200,
        23.1,
    ]


@pytest.mark.parametrize(("status", "expected"), [(0, "ERROR"), (200, "UNSET"), (304, "UNSET"), (429, "ERROR")])
def test_a_request_that_was_not_granted_fails_its_span(listener: Listener, status: int, expected: str) -> None:
    """As in any trace of HTTP requests; the delivery's own span tells whether that mattered."""
    listener.telemetry.hook(store_call(status=status))
    [span] = listener.spans()
    assert span.status.status_code.name == expected


async def test_deliveries_side_by_side_keep_their_requests_apart(listener: Listener) -> None:
    """Each invocation is a task of its own, and what it asks is beneath its own span."""

    async def invocation(order: str) -> None:
        delivery = sent(order)
        with listener.telemetry.message("place_order", "orders", [delivery]):
            await asyncio.sleep(0)
            listener.telemetry.hook(store_call())
            await asyncio.sleep(0)
            listener.telemetry.hook(ended(Processed(None), delivery=delivery))

    await asyncio.gather(*(invocation(f"m-{n}") for n in range(4)))
    spans = listener.spans()
    deliveries = {
        span.context.span_id: (span.attributes or {})["messageId"] for span in spans if span.kind is SpanKind.CONSUMER
    }
    requests = [deliveries[span.parent.span_id] for span in spans if span.kind is SpanKind.CLIENT and span.parent]
    assert sorted(requests) == sorted(deliveries.values()) == [f"m-{n}" for n in range(4)]
