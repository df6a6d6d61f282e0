"""The trace that a message's producer was in when it sent it (W3C, "Trace Context")."""

from collections.abc import Sequence

from opentelemetry.context import Context
from opentelemetry.trace import SpanContext, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ..idempotency import Delivery, Property

_PARENTS = ("traceparent", "Diagnostic-Id")
"""How producers name the property: W3C's own name, and that of the Azure SDKs. Both may be there; then they agree."""
_STATE = "tracestate"
_FORMAT = TraceContextTextMapPropagator()


def producers_of(deliveries: Sequence[Delivery]) -> list[SpanContext]:
    """The producers' contexts, each once, in the order of the deliveries. What is no trace context is passed over."""
    found = [context for delivery in deliveries if (context := _producer_of(delivery))]
    return list({(context.trace_id, context.span_id): context for context in found}.values())


def _producer_of(delivery: Delivery) -> SpanContext | None:
    for name in _PARENTS:
        carrier = {"traceparent": _text(delivery.properties.get(name)), _STATE: _text(delivery.properties.get(_STATE))}
        context = get_current_span(_FORMAT.extract(carrier, Context())).get_span_context()
        if context.is_valid:
            return context
    return None


def _text(value: Property) -> str:
    match value:
        case str():
            return value
        case bytes():
            return value.decode("ascii", errors="replace")
    return ""
