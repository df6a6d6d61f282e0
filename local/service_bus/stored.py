"""A message before and while it is in a queue."""

import uuid
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from local.amqp import Message


class MessageState(IntEnum):
    """What Service Bus tells as the state of a message (annotation x-opt-message-state)."""

    ACTIVE = 0
    DEFERRED = 1
    SCHEDULED = 2


@dataclass(frozen=True, slots=True)
class Submission:
    """A message that a sender hands over."""

    content: Message  # as it came
    message_id: str  # the sender's, or one made by the broker
    time_to_live_ms: int | None = None  # the sender's wish
    scheduled_for_ms: int | None = None  # not to be delivered before, in milliseconds since the epoch


@dataclass(slots=True)
class StoredMessage:
    """A message in a queue. Changed by the queue only."""

    content: Message  # as the sender wrote it
    message_id: str  # identity for duplicate detection
    sequence_number: int  # place in the queue
    enqueued_at_ms: int  # when it entered the queue, or was activated
    time_to_live_ms: int | None  # life from then on; None: no end
    state: MessageState = MessageState.ACTIVE  # active, deferred or scheduled
    scheduled_for_ms: int = 0  # when a scheduled message becomes active
    delivery_count: int = 0  # failed deliveries
    lock_token: uuid.UUID | None = None  # of the receiver that has it now
    locked_until_ms: int = 0  # when that lock ends
    changes: dict[str, Any] = field(default_factory=dict)  # application properties that settlements set

    @property
    def is_available(self) -> bool:
        """Whether a receiver can get it."""
        return self.state is MessageState.ACTIVE and self.lock_token is None

    @property
    def expires_at_ms(self) -> int | None:
        """The end of its life; None: no end."""
        return None if self.time_to_live_ms is None else self.enqueued_at_ms + self.time_to_live_ms

    def has_expired(self, instant_ms: int) -> bool:
        """Whether its life is over at an instant."""
        return self.expires_at_ms is not None and self.expires_at_ms <= instant_ms
