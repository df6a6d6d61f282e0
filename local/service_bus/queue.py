"""The rules of a queue: pure decisions, no sockets, time from the injected clock.

Source: Microsoft, "Message transfers, locks, and settlement", "Message expiration", "Message deferral", "Dead-letter
queues", "Message sequencing and timestamps" (Azure Service Bus).

A message is active, deferred or scheduled; an active or deferred one may be locked. Whatever time has made due is done
before anything else is decided, each thing as of its own instant: no answer depends on when a timer ran.
"""

import itertools
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from local.broker import Clock, InvalidRequest

from .duplicates import DuplicateHistory
from .statistics import Counts
from .store import MessageStore
from .stored import MessageState, StoredMessage, Submission
from .topology import QueueSettings

MILLISECOND = timedelta(milliseconds=1)
DEAD_LETTER_SUFFIX = "/$DeadLetterQueue"
REASON_PROPERTY = "DeadLetterReason"
DESCRIPTION_PROPERTY = "DeadLetterErrorDescription"
EXPIRED_REASON = "TTLExpiredException"
EXPIRED_DESCRIPTION = "The message expired and was dead lettered."
DELIVERIES_REASON = "MaxDeliveryCountExceeded"


class Queue:
    """A queue, or the dead-letter queue behind one."""

    def __init__(self, settings: QueueSettings, clock: Clock, feeder: "Queue | None" = None) -> None:
        """`feeder` is the queue that this is the dead-letter queue of."""
        self.settings = settings
        self.counts = Counts()
        self.on_available: Callable[[], None] = lambda: None  # called when a receiver could get a message
        self.dead_letter_queue = Queue(_behind(settings), clock, self) if feeder is None else None
        self._feeder = feeder
        self._clock = clock
        self._history = DuplicateHistory(settings.detection_window)
        self._numbers = itertools.count(1)
        self._store = MessageStore()

    def send(self, submissions: Sequence[Submission]) -> list[int]:
        """Take messages in, all of them. Returns their sequence numbers; a duplicate gets one, and is dropped."""
        self.catch_up()
        return [self._admit(submission) for submission in submissions]

    def lock_next(self) -> StoredMessage | None:
        """Peek-lock: the next message, locked for its receiver."""
        self.catch_up()
        message = self._store.next_in_line()
        if message is not None:
            self._lock(message)
        return message

    def take_next(self) -> StoredMessage | None:
        """Receive-and-delete: the next message, gone from the queue."""
        self.catch_up()
        message = self._store.next_in_line()
        if message is not None:
            self._take(message)
        return message

    def complete(self, token: uuid.UUID) -> None:
        """The message is done. Like every settlement, raises LockLost when the token locks nothing any more."""
        self._store.remove(self._unlock(token))
        self.counts.completed += 1

    def abandon(self, token: uuid.UUID, changes: Mapping[str, Any]) -> None:
        """The delivery failed: the message is available again at once, or dead-lettered after too many failures."""
        message = self._unlock(token)
        message.changes |= changes
        self.counts.abandoned += 1
        self._return_failed(message, self._clock.now_ms())

    def release(self, token: uuid.UUID) -> None:
        """The receiver did not look at the message: it is available again, and the delivery does not count."""
        message = self._unlock(token)
        self.counts.released += 1
        self._return(message, self._clock.now_ms())

    def defer(self, token: uuid.UUID, changes: Mapping[str, Any]) -> None:
        """Set the message aside: from now on it is received by its sequence number only."""
        message = self._unlock(token)
        message.changes |= changes
        message.state = MessageState.DEFERRED

    def dead_letter(
        self, token: uuid.UUID, reason: str | None, description: str | None, changes: Mapping[str, Any]
    ) -> None:
        """Move the message to the dead-letter queue. Raises InvalidRequest when this is one: the lock stays."""
        self.require_locked([token])
        if self.dead_letter_queue is None:
            raise InvalidRequest("A message in a dead-letter queue cannot be dead-lettered.")
        message = self._unlock(token)
        message.changes |= changes
        self._dead_letter(message, reason, description)

    def renew(self, tokens: Sequence[uuid.UUID]) -> list[int]:
        """Give the locks their full duration again. Returns the new ends, in milliseconds since the epoch."""
        self.catch_up()
        messages = self._store.locked(tokens)
        for message in messages:
            self._hold(message)
        return [message.locked_until_ms for message in messages]

    def require_locked(self, tokens: Sequence[uuid.UUID]) -> None:
        """Raise LockLost unless every token locks a message now."""
        self.catch_up()
        self._store.locked(tokens)

    def receive_deferred(self, sequence_numbers: Sequence[int], *, lock: bool) -> list[StoredMessage]:
        """The deferred messages with these numbers, locked or taken out. Raises MessageNotFound, then gives none."""
        self.catch_up()
        messages = self._store.find(sequence_numbers, MessageState.DEFERRED)
        for message in messages:
            if lock:
                self._lock(message)
            else:
                self._take(message)
        return messages

    def cancel_scheduled(self, sequence_numbers: Sequence[int]) -> None:
        """Take scheduled messages back. Raises MessageNotFound when one is not scheduled any more, then takes none."""
        self.catch_up()
        for message in self._store.find(sequence_numbers, MessageState.SCHEDULED):
            self._store.remove(message)
            self.counts.cancelled += 1

    def peek(self, from_sequence_number: int, count: int) -> list[StoredMessage]:
        """Messages in whatever condition, in order, from this number on; nothing is locked."""
        self.catch_up()
        return self._store.in_order(from_sequence_number, count)

    def statistics(self) -> dict[str, int]:
        """The counts, and how many messages there are now in each condition."""
        self.catch_up()
        dead = self.dead_letter_queue
        return self.counts.as_dict() | self._store.tally() | {"dead_letter": 0 if dead is None else len(dead._store)}

    def catch_up(self) -> None:
        """Do what time has made due: activate scheduled messages, end locks, expire messages."""
        if self._feeder is not None:
            self._feeder.catch_up()
        for instant, message in self._store.due(self._clock.now_ms()):
            if message.state is MessageState.SCHEDULED:
                self._activate(message)
            elif message.lock_token is not None and message.locked_until_ms <= instant:
                self.counts.lock_expired += 1
                self._store.unlock(message)
                self._return_failed(message, instant)
            elif message.is_available and message.has_expired(instant):
                self._expire(message)

    def _admit(self, submission: Submission) -> int:
        now = self._clock.now_ms()
        self.counts.sent += 1
        number = next(self._numbers)
        if self._history.is_duplicate(submission.message_id, now):
            self.counts.dropped_as_duplicate += 1
            return number
        message = StoredMessage(submission.content, submission.message_id, number, now, self._lifetime(submission))
        if submission.scheduled_for_ms is not None and submission.scheduled_for_ms > now:
            message.state = MessageState.SCHEDULED
            message.scheduled_for_ms = submission.scheduled_for_ms
            self._store.add(message)
            self._store.note(message.scheduled_for_ms, message)
        else:
            self._enter(message)
        return number

    def _lifetime(self, submission: Submission) -> int | None:
        """The queue's default is also the ceiling of what a sender may ask for."""
        default = self.settings.default_time_to_live
        limits = [submission.time_to_live_ms, None if default is None else default // MILLISECOND]
        return min((limit for limit in limits if limit is not None), default=None)

    def _activate(self, message: StoredMessage) -> None:
        """A scheduled message enters the queue as if sent at that instant, with a new sequence number."""
        self._store.remove(message)
        message.state = MessageState.ACTIVE
        message.sequence_number = next(self._numbers)
        message.enqueued_at_ms = message.scheduled_for_ms
        self._enter(message)

    def _enter(self, message: StoredMessage) -> None:
        self._store.add(message)
        if message.expires_at_ms is not None:
            self._store.note(message.expires_at_ms, message)
        self._make_available(message)

    def _make_available(self, message: StoredMessage) -> None:
        self._store.line_up(message)
        self.on_available()

    def _lock(self, message: StoredMessage) -> None:
        self._store.lock(message)
        self._hold(message)
        self.counts.deliveries += 1

    def _hold(self, message: StoredMessage) -> None:
        message.locked_until_ms = self._clock.now_ms() + self.settings.lock_duration // MILLISECOND
        self._store.note(message.locked_until_ms, message)

    def _take(self, message: StoredMessage) -> None:
        self._store.remove(message)
        self.counts.deliveries += 1
        self.counts.received_and_deleted += 1

    def _unlock(self, token: uuid.UUID) -> StoredMessage:
        self.catch_up()
        [message] = self._store.locked([token])
        self._store.unlock(message)
        return message

    def _return_failed(self, message: StoredMessage, instant: int) -> None:
        message.delivery_count += 1
        limit = self.settings.max_delivery_count
        if limit is not None and message.delivery_count >= limit:
            text = f"Message could not be consumed after {message.delivery_count} delivery attempts."
            self._dead_letter(message, DELIVERIES_REASON, text)
        else:
            self._return(message, instant)

    def _return(self, message: StoredMessage, instant: int) -> None:
        if message.state is MessageState.DEFERRED:
            return  # it stays deferred, and a deferred message does not expire
        if message.has_expired(instant):
            self._expire(message)
        else:
            self._make_available(message)

    def _expire(self, message: StoredMessage) -> None:
        if self.settings.dead_letter_on_expiration:
            self._dead_letter(message, EXPIRED_REASON, EXPIRED_DESCRIPTION)
        else:
            self._store.remove(message)
            self.counts.expired += 1

    def _dead_letter(self, message: StoredMessage, reason: str | None, description: str | None) -> None:
        # A dead-letter queue has no delivery limit and no lifetimes, so this is never reached in one.
        assert self.dead_letter_queue is not None  # noqa: S101
        self._store.remove(message)
        self.counts.dead_lettered += 1
        details = {REASON_PROPERTY: reason, DESCRIPTION_PROPERTY: description}
        message.changes |= {name: text for name, text in details.items() if text is not None}
        message.state = MessageState.ACTIVE
        message.time_to_live_ms = None  # lifetimes are not observed in a dead-letter queue
        self.dead_letter_queue._enter(message)


def _behind(settings: QueueSettings) -> QueueSettings:
    """The settings of the dead-letter queue behind a queue."""
    return replace(
        settings,
        name=settings.name + DEAD_LETTER_SUFFIX,
        max_delivery_count=None,
        default_time_to_live=None,
        detection_window=None,
        dead_letter_on_expiration=False,
    )
