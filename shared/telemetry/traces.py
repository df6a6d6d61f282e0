"""Invocations and database requests as spans. docs/telemetry.md lists their names and attributes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from opentelemetry import context, trace
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanKind, StatusCode

from ..idempotency import Delivery, Event, StoreCall
from .ends import end_in, reason_in
from .harmless import harmless
from .producers import producers_of
from .underway import Underway, begun

type Attributes = Mapping[str, str | int | float]

_NANOSECONDS = 1_000_000_000
_FIRST_ERROR = 400
"""From this status code on, a request was not granted (RFC 9110). 0 means that there was no answer."""


class Traces:
    """One span an invocation of a trigger, and beneath it one a request to the database."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def message(self, consumer: str, queue: str, deliveries: Sequence[Delivery]) -> AbstractContextManager[None]:
        """A span that continues the trace of the message's producer."""
        return self._observing(consumer, deliveries, partial(self._start_message, consumer, queue, deliveries))

    def batch(self, consumer: str, hub: str, deliveries: Sequence[Delivery]) -> AbstractContextManager[None]:
        """A span that links to the traces of the events' producers, for it can continue only one."""
        return self._observing(consumer, deliveries, partial(self._start_batch, consumer, hub, deliveries))

    def tell(self, event: Event) -> None:
        """A `Hook`: requests to the database, told when they are over, become spans of their own."""
        if isinstance(event, StoreCall):
            began = int(event.started_at.timestamp() * _NANOSECONDS)
            attributes: Attributes = {
                "operation": event.operation,
                "container": event.container,
                "status": event.status,
                "requestCharge": event.request_charge,
                "db.system.name": "azure.cosmosdb",  # OpenTelemetry, "Semantic conventions for Azure Cosmos DB"
            }
            name = f"{event.operation} {event.container}"
            span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes, start_time=began)
            if event.status == 0 or event.status >= _FIRST_ERROR:
                span.set_status(StatusCode.ERROR)
            span.end(began + int(event.seconds * _NANOSECONDS))

    @contextmanager
    def _observing(self, consumer: str, deliveries: Sequence[Delivery], start: Callable[[], Span]) -> Iterator[None]:
        span = harmless(start) or trace.get_current_span()
        error: BaseException | None = None
        with begun(consumer, deliveries) as invocation:
            try:
                # Exceptions are not recorded: their text may quote the message, and the host logs them.
                with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                    yield
            except BaseException as raised:
                error = raised
                raise
            finally:
                harmless(partial(_end, span, invocation, error))

    def _start_message(self, consumer: str, queue: str, deliveries: Sequence[Delivery]) -> Span:
        parent = context.get_current()
        host = trace.get_current_span(parent).get_span_context()
        links: list[Link] = []
        for producer in producers_of(deliveries)[:1]:
            if producer.trace_id != host.trace_id:  # otherwise the host has continued it, and we continue the host
                parent = trace.set_span_in_context(NonRecordingSpan(producer), parent)
                links = [Link(host)] if host.is_valid else []
        return self._start("servicebus", queue, {"consumer": consumer}, parent, links)

    def _start_batch(self, consumer: str, hub: str, deliveries: Sequence[Delivery]) -> Span:
        links = [Link(producer) for producer in producers_of(deliveries)]
        attributes: Attributes = {"consumer": consumer, "messaging.batch.message_count": len(deliveries)}
        return self._start("eventhubs", hub, attributes, context.get_current(), links)

    def _start(
        self, system: str, source: str, attributes: Attributes, parent: context.Context, links: Sequence[Link]
    ) -> Span:
        # Names are OpenTelemetry's, "Semantic conventions for messaging spans".
        attributes = {
            "messaging.system": system,
            "messaging.operation.type": "process",
            "messaging.destination.name": source,
            **attributes,
        }
        return self._tracer.start_span(f"process {source}", parent, SpanKind.CONSUMER, attributes, links)


def _end(span: Span, invocation: Underway, error: BaseException | None) -> None:
    span.set_attributes(_of_the_only(invocation) if invocation.only else _counts(invocation))
    if error:
        span.set_attribute("error", type(error).__name__)
        span.set_status(StatusCode.ERROR, type(error).__name__)
    span.end()


def _of_the_only(invocation: Underway) -> Attributes:
    [delivery] = invocation.deliveries
    attributes = {
        "messageId": delivery.message_id,
        "correlationId": delivery.correlation_id,
        "attempt": delivery.attempt,
    }
    if end := invocation.end_of(delivery):
        reason = reason_in(end)
        attributes |= {"key": end.key, "outcome": end_in(end).value, "reason": reason.value if reason else None}
    return {name: value for name, value in attributes.items() if value is not None}


def _counts(invocation: Underway) -> Attributes:
    return Counter(end_in(end).value for end in invocation.ended)
