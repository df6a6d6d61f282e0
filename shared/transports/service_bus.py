"""Service Bus on both ends of the flow: a message becomes deliveries, their outcomes become one settlement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from types import MappingProxyType
from typing import assert_never

import azure.functions as func

from ..idempotency import (
    Delivery,
    Duplicate,
    IdempotentConsumer,
    Outcome,
    Processed,
    Rejected,
    SettlementFailed,
    Stale,
)
from .cloud_events import deliveries_in
from .observation import Observe, unobserved
from .settlement import Settlement, SettlementError

LOCK_RENEWAL = 300.0
"""Seconds for which the host keeps a message locked: `maxAutoLockRenewalDuration` in host.json."""
_MARGIN = 90.0
"""Seconds of those kept back for a last try that began just in time: opening the store takes at most 45, a commit 10,
the settlement 10."""
PATIENCE = LOCK_RENEWAL - _MARGIN
"""Seconds for which a message may be held while something transient passes."""
_LONGEST_TEXT = 4096
"""What Service Bus takes as dead-letter description, in UTF-16 units (.NET SDK, `MaxDeadLetterReasonLength`). Applied
to UTF-8 bytes, of which there are never fewer."""


@dataclass(frozen=True, slots=True)
class QueueConsumer[M]:
    """A consumer and the queue it reads."""

    queue: str
    """The queue's name as the trigger declares it. Ids are unique within the queue, so it is part of every key."""
    consumer: IdempotentConsumer[M]
    """What happens to the messages."""
    observe: Observe = unobserved
    """Sees every invocation."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The settlement of a message that can never succeed."""

    reason: str
    """From the library's closed list."""
    description: str
    """What a person needs to act; within the length that Service Bus takes."""


async def consume[M](subscribed: QueueConsumer[M], message: func.ServiceBusMessage, settlement: Settlement) -> None:
    """Process a message and settle it.

    Raises what `IdempotentConsumer.consume` raises: the host then gives the message back to the queue. A settlement
    that fails is told to the consumer's hook and not raised: the outcome stands, the message comes again when its lock
    has expired, and the marker, or the same rejection, answers it.
    """
    came = deliveries(message, subscribed.queue)
    with subscribed.observe(subscribed.consumer.name, subscribed.queue, came):
        outcomes = await _outcomes(subscribed.consumer, came)
        await _settle(subscribed, message, settlement, settlement_of(outcomes))


async def _outcomes[M](consumer: IdempotentConsumer[M], came: Sequence[Delivery]) -> list[Outcome]:
    """What became of each delivery, one after the other: they share the lock's time."""
    deadline = consumer.clock.monotonic() + PATIENCE
    outcomes: list[Outcome] = []
    for delivery in came:
        patience = max(0.0, deadline - consumer.clock.monotonic())
        outcomes.append(await consumer.consume(delivery, patience=patience))
    return outcomes


async def _settle[M](
    subscribed: QueueConsumer[M],
    message: func.ServiceBusMessage,
    settlement: Settlement,
    dead_letter: DeadLetter | None,
) -> None:
    lock_token = message.lock_token or ""  # the host refuses a token that it does not know, and this one too
    try:
        if dead_letter:
            await settlement.dead_letter(lock_token, dead_letter.reason, dead_letter.description)
        else:
            await settlement.complete(lock_token)
    except SettlementError as error:
        subscribed.consumer.hook(
            SettlementFailed(
                consumer=subscribed.consumer.name,
                source=subscribed.queue,
                message_id=message.message_id,
                settlement="dead_letter" if dead_letter else "complete",
                error=error,
            )
        )


def settlement_of(outcomes: Sequence[Outcome]) -> DeadLetter | None:
    """What the broker is told of a message whose deliveries ended so; None means complete.

    A batch with a rejected event is dead-lettered whole: nothing is lost, and on resubmission the events that are done
    are duplicates.
    """
    rejections: list[tuple[int, Rejected]] = []
    for position, outcome in enumerate(outcomes, 1):
        match outcome:
            case Processed() | Duplicate() | Stale():
                pass
            case Rejected():
                rejections.append((position, outcome))
            case _:
                assert_never(outcome)
    if not rejections:
        return None
    lines = [
        rejected.description if len(outcomes) == 1 else f"Event {position} of {len(outcomes)}: {rejected.description}"
        for position, rejected in rejections
    ]
    return DeadLetter(rejections[0][1].reason, _bounded("\n".join(lines)))


def deliveries(message: func.ServiceBusMessage, queue: str) -> tuple[Delivery, ...]:
    """What a message brings: itself, or the CloudEvents in it, one delivery each.

    A plain message is identified by the queue and the message id, an event by its source and id.
    """
    enqueued_at = message.enqueued_time_utc
    plain = Delivery(
        source=queue,
        message_id=message.message_id,
        body=message.get_body(),
        # Counted from 1 (.NET SDK, `ServiceBusReceivedMessage.DeliveryCount`): the first delivery has 1.
        attempt=message.delivery_count or 1,
        properties=MappingProxyType(message.application_properties or {}),
        content_type=message.content_type,
        subject=message.subject,
        partition_key=message.partition_key,
        session_id=message.session_id,
        correlation_id=message.correlation_id,
        # The host's *Utc values carry no zone.
        enqueued_at=enqueued_at.replace(tzinfo=UTC) if enqueued_at and not enqueued_at.tzinfo else enqueued_at,
    )
    return deliveries_in(plain)


def _bounded(text: str) -> str:
    """Text that fits and that can be sent: what a producer wrote may hold half a surrogate pair."""
    return text.encode(errors="backslashreplace")[:_LONGEST_TEXT].decode(errors="ignore")
