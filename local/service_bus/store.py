"""Where the messages of a queue are: by number, by lock, in line, and by the next instant that matters to them.

Bookkeeping only; the rules are in `queue`.
"""

import heapq
import uuid
from collections.abc import Iterator, Sequence

from .faults import LockLost, MessageNotFound
from .stored import MessageState, StoredMessage


class MessageStore:
    """The messages of one queue."""

    def __init__(self) -> None:
        self._messages: dict[int, StoredMessage] = {}
        self._locked: dict[uuid.UUID, StoredMessage] = {}
        self._line: list[int] = []  # heap of sequence numbers; those no longer available are skipped
        self._agenda: list[tuple[int, int]] = []  # heap of (instant, sequence number); outdated entries are harmless

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, message: StoredMessage) -> None:
        """Keep a message under its sequence number."""
        self._messages[message.sequence_number] = message

    def remove(self, message: StoredMessage) -> None:
        """Forget a message."""
        del self._messages[message.sequence_number]

    def line_up(self, message: StoredMessage) -> None:
        """Put an available message in line, at the place of its sequence number."""
        heapq.heappush(self._line, message.sequence_number)

    def next_in_line(self) -> StoredMessage | None:
        """Take the first available message out of the line."""
        while self._line:
            message = self._messages.get(heapq.heappop(self._line))
            if message is not None and message.is_available:
                return message
        return None

    def note(self, instant_ms: int, message: StoredMessage) -> None:
        """Remember that something may be due for a message then."""
        heapq.heappush(self._agenda, (instant_ms, message.sequence_number))

    def due(self, now_ms: int) -> Iterator[tuple[int, StoredMessage]]:
        """The messages for which something may be due, earliest first, each with its instant."""
        while self._agenda and self._agenda[0][0] <= now_ms:
            instant, number = heapq.heappop(self._agenda)
            message = self._messages.get(number)
            if message is not None:
                yield instant, message

    def lock(self, message: StoredMessage) -> None:
        """Give a message a new lock token."""
        message.lock_token = uuid.uuid4()
        self._locked[message.lock_token] = message

    def unlock(self, message: StoredMessage) -> None:
        """Take the lock from a locked message."""
        if message.lock_token is not None:
            del self._locked[message.lock_token]
            message.lock_token = None

    def locked(self, tokens: Sequence[uuid.UUID]) -> list[StoredMessage]:
        """The messages that these tokens lock now; raises LockLost when one locks none."""
        try:
            return [self._locked[token] for token in tokens]
        except KeyError as error:
            raise LockLost from error

    def find(self, numbers: Sequence[int], state: MessageState) -> list[StoredMessage]:
        """The unlocked messages with these numbers in this state; raises MessageNotFound when one is missing."""
        found = []
        for number in dict.fromkeys(numbers):
            message = self._messages.get(number)
            if message is None or message.state is not state or message.lock_token is not None:
                raise MessageNotFound(number, state.name.lower())
            found.append(message)
        return found

    def in_order(self, from_number: int, count: int) -> list[StoredMessage]:
        """Up to `count` messages in whatever condition, from this sequence number on."""
        numbers = sorted(number for number in self._messages if number >= from_number)
        return [self._messages[number] for number in numbers[:count]]

    def tally(self) -> dict[str, int]:
        """How many messages there are in each condition."""
        messages = self._messages.values()
        unlocked = [message.state for message in messages if message.lock_token is None]
        return {
            "active": unlocked.count(MessageState.ACTIVE),
            "locked": len(self._locked),
            "scheduled": unlocked.count(MessageState.SCHEDULED),
            "deferred": unlocked.count(MessageState.DEFERRED),
        }
