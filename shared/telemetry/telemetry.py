"""Everything that is told of one worker's deliveries, in one object: a `Hook`, and what transports observe with."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Self

from opentelemetry import metrics, trace

from ..idempotency import Clock, Delivery, DeliveryEnded, Event, SystemClock
from . import logs
from .harmless import harmless
from .metrics import Metrics
from .traces import Traces
from .underway import underway

_SCOPE = "idempotency"
"""Whose metrics and spans these are (OpenTelemetry, "Instrumentation scope")."""


class Telemetry:
    """Tells metrics, spans and log lines. Nothing in here raises: a delivery does not fail for its telemetry."""

    def __init__(self, meter: metrics.Meter, tracer: trace.Tracer, clock: Clock | None = None) -> None:
        """`clock` tells how old things are; the machine's own if None."""
        self._metrics = Metrics(meter, clock or SystemClock())
        self._traces = Traces(tracer)

    @classmethod
    def of_process(cls) -> Self:
        """For whoever listens in this process, now or later."""
        return cls(metrics.get_meter(_SCOPE), trace.get_tracer(_SCOPE))

    def hook(self, event: Event) -> None:
        """A `Hook`."""
        if isinstance(event, DeliveryEnded) and (invocation := underway()):
            invocation.ended.append(event)
        for tell in (self._metrics.tell, self._traces.tell, logs.tell):
            harmless(partial(tell, event))

    def message(self, consumer: str, queue: str, deliveries: Sequence[Delivery]) -> AbstractContextManager[None]:
        """Observe one message of a Service Bus queue, with all the deliveries it brings."""
        return self._traces.message(consumer, queue, deliveries)

    def batch(self, consumer: str, hub: str, deliveries: Sequence[Delivery]) -> AbstractContextManager[None]:
        """Observe one batch of an event hub."""
        return self._traces.batch(consumer, hub, deliveries)
