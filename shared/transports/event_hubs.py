"""Event Hubs on both ends of the flow: a batch becomes deliveries, and what can never succeed is parked.

Event Hubs settles nothing event by event: the trigger moves its checkpoint past the whole batch, even when the function
raised and its retries are used up. So the function returns only when every event is done or durably parked. Otherwise
it raises, and the trigger's retry policy, which never gives up, runs the same batch again while the partition waits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import azure.functions as func

from ..idempotency import Duplicate, IdempotentConsumer, Outcome, Parked, Processed, Rejected, Stale
from .event_batch import Arrival, arrivals_in
from .observation import Observe, unobserved
from .parking import ParkedEvent, ParkingLot

PATIENCE = 30.0
"""Seconds for which something transient is waited out inside an invocation: throttling passes by then. An outage is
left to the retry policy, which waits between invocations, where no function time-out (5 minutes by default on a
Consumption plan) ends the wait."""


@dataclass(frozen=True, slots=True)
class StreamConsumer[M]:
    """A consumer and the event hub it reads."""

    hub: str
    """The hub's name as the trigger declares it. Ids are unique within the hub, so it is part of every key."""
    consumer: IdempotentConsumer[M]
    """What happens to the events."""
    parking: ParkingLot
    """Where those go that can never succeed."""
    keyless: bool = False
    """Whether events without a producer's id are processed, each by its position, so that only re-reading is found out
    and not sending twice. Otherwise they are parked."""
    observe: Observe = unobserved
    """Sees every invocation."""


async def consume[M](
    subscribed: StreamConsumer[M], events: Sequence[func.EventHubEvent], context: func.Context
) -> None:
    """Process a batch; on return nothing of it is needed any more.

    Raises what `IdempotentConsumer.consume_all` and `ParkingLot.park` raise, and `MetadataMismatch`: then the batch
    must come again, and what is done by then is a duplicate. Nothing is parked before every outcome is known.
    """
    # A batch that runs again finds markers of its first run, so they are read before anything is tried.
    attempt = context.retry_context.retry_count + 1
    arrivals = arrivals_in(events, hub=subscribed.hub, attempt=attempt, keyless=subscribed.keyless)
    deliveries = [arrival.delivery for arrival in arrivals]
    consumer = subscribed.consumer
    with subscribed.observe(consumer.name, subscribed.hub, deliveries):
        outcomes = await consumer.consume_all(deliveries, patience=PATIENCE)
        for arrival, outcome in zip(arrivals, outcomes, strict=True):
            parked = parked_event(consumer.name, arrival, outcome)
            # What is read again is not told again: a replay of a stream would wake people for what they know.
            if parked and await subscribed.parking.park(parked):
                consumer.hook(Parked(consumer=consumer.name, delivery=parked.delivery, reason=parked.reason))


def parked_event(consumer: str, arrival: Arrival, outcome: Outcome) -> ParkedEvent | None:
    """What is parked of a delivery that ended so; None when it is done."""
    match outcome:
        case Processed() | Duplicate() | Stale():
            return None
        case Rejected():
            return ParkedEvent(
                consumer=consumer,
                position=arrival.position,
                delivery=arrival.delivery,
                reason=outcome.reason,
                description=outcome.description,
            )
        case _:
            assert_never(outcome)
