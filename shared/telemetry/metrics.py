"""Hooks to metrics. Attributes have few values, known in advance: no id, key or partition is ever one of them."""

from opentelemetry.metrics import Meter

from ..idempotency import Clock, DeliveryEnded, Duplicate, Event, Parked, Retrying, SettlementFailed, StoreCall
from .ends import end_in, reason_in


class Metrics:
    """The instruments; docs/telemetry.md says what each means."""

    def __init__(self, meter: Meter, clock: Clock) -> None:
        """`clock` tells how old things are."""
        self._clock = clock
        self._deliveries = meter.create_counter("idempotency.deliveries")
        self._duration = meter.create_histogram("idempotency.delivery.duration", "s")
        self._duplicate_age = meter.create_histogram("idempotency.duplicate.age", "s")
        self._lag = meter.create_histogram("idempotency.event.lag", "s")
        self._store_duration = meter.create_histogram("idempotency.store.duration", "s")
        self._request_charge = meter.create_histogram("idempotency.store.request_charge", "RU")
        self._round_trips = meter.create_counter("idempotency.store.round_trips")
        self._retries = meter.create_counter("idempotency.retries")
        self._settlement_failures = meter.create_counter("idempotency.settlement.failures")
        self._parked = meter.create_counter("idempotency.parked")

    def tell(self, event: Event) -> None:
        """A `Hook`."""
        match event:
            case DeliveryEnded():
                self._tell_end(event)
            case StoreCall():
                where: dict[str, str | int] = {"operation": event.operation, "container": event.container}
                answered = {**where, "status": event.status}
                self._round_trips.add(1, answered)
                self._store_duration.record(event.seconds, answered)
                self._request_charge.record(event.request_charge, where)
            case Retrying():
                self._retries.add(1, {"consumer": event.consumer, "cause": type(event.cause).__name__})
            case SettlementFailed():
                self._settlement_failures.add(1, {"source": event.source, "settlement": event.settlement})
            case Parked():
                self._parked.add(1, {"consumer": event.consumer, "reason": event.reason.value})

    def _tell_end(self, event: DeliveryEnded) -> None:
        who = {"consumer": event.consumer}
        how = {**who, "outcome": end_in(event).value}
        reason = reason_in(event)
        self._deliveries.add(1, {**how, "reason": reason.value} if reason else how)
        self._duration.record(event.seconds, how)
        now = self._clock.now()
        # Other machines wrote the times that are compared with ours: a negative age is no age.
        if isinstance(event.outcome, Duplicate):
            self._duplicate_age.record(max(0.0, (now - event.outcome.processed_at).total_seconds()), who)
        if event.delivery.enqueued_at:
            self._lag.record(max(0.0, (now - event.delivery.enqueued_at).total_seconds()), who)
