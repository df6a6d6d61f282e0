"""The log of a partition: events in the order they came, until their retention ends. Pure; time from the clock.

Source: Microsoft, "Features and terminology in Azure Event Hubs" (partitions, offsets, retention).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from local.amqp import Message
from local.broker import Clock

from .faults import PositionInvalid
from .selector import From, Latest, Mark, Start

MILLISECOND = timedelta(milliseconds=1)
NO_EVENT_YET = -1  # the last sequence number and offset of a partition that never had an event
# Offsets count bytes, not events. They start far from zero, so that nobody takes one for a sequence number.
FIRST_OFFSET = 2**32


@dataclass(frozen=True, slots=True)
class Event:
    """An event in a partition."""

    content: Message  # as the sender wrote it
    partition_key: str | None  # what the sender wants kept together and in order
    sequence_number: int  # place in the partition: 0, 1, 2, …
    offset: int  # place in bytes
    enqueued_at_ms: int  # when it was accepted, in milliseconds since the epoch


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What can be told about a partition at an instant."""

    first_sequence_number: int  # of the oldest event that can be read, or of the next one to come
    last_sequence_number: int  # of the newest event ever; NO_EVENT_YET
    last_offset: int  # of the newest event ever; NO_EVENT_YET
    last_enqueued_at_ms: int  # when it came; 0 when there was none
    is_empty: bool  # nothing can be read


class Partition:
    """One partition of an event hub."""

    def __init__(self, retention: timedelta, clock: Clock) -> None:
        self.on_appended: Callable[[], None] = lambda: None  # called when there is something new to read
        self._retention_ms = retention // MILLISECOND
        self._clock = clock
        self._events: list[Event] = []  # those that can be read
        self._newest: Event | None = None  # the last one ever, readable or not
        self._next_offset = FIRST_OFFSET
        self._delivered = 0
        self._known: set[tuple[str, int]] = set()  # consumer group and sequence number of what was delivered

    def append(self, content: Message, size: int, partition_key: str | None) -> Event:
        """Take an event of `size` bytes in."""
        last = self.state()
        event = Event(
            content,
            partition_key,
            last.last_sequence_number + 1,
            self._next_offset,
            # Time in a partition never runs backwards, whatever the machine's clock does.
            max(self._clock.now_ms(), last.last_enqueued_at_ms),
        )
        self._next_offset += size
        self._events.append(event)
        self._newest = event
        self.on_appended()
        return event

    def start(self, start: Start) -> int:
        """The sequence number that a receiver reads from. Raises PositionInvalid when that is behind the end."""
        state = self.state()
        match start:
            case Latest():
                return state.last_sequence_number + 1
            case From(Mark.SEQUENCE_NUMBER, value) if value > state.last_sequence_number:
                raise PositionInvalid("sequence number", value, state.last_sequence_number)
            case From(Mark.OFFSET, value) if value > state.last_offset:
                raise PositionInvalid("offset", value, state.last_offset)
            case From(mark, value, inclusive):
                search = bisect_left if inclusive else bisect_right
                skipped = search(self._events, value, key=lambda event: _mark(event, mark))
                return state.first_sequence_number + skipped

    def deliver(self, sequence_number: int, consumer_group: str) -> Event | None:
        """The first readable event from this number on, counted as handed to a receiver; None at the end."""
        first = self.state().first_sequence_number
        index = max(0, sequence_number - first)
        if index >= len(self._events):
            return None
        event = self._events[index]
        self._delivered += 1
        self._known.add((consumer_group, event.sequence_number))
        return event

    def state(self) -> PartitionState:
        """The partition now, without the events whose retention has ended."""
        self._expire()
        newest = self._newest
        if newest is None:
            return PartitionState(0, NO_EVENT_YET, NO_EVENT_YET, 0, is_empty=True)
        first = self._events[0].sequence_number if self._events else newest.sequence_number + 1
        return PartitionState(
            first, newest.sequence_number, newest.offset, newest.enqueued_at_ms, is_empty=not self._events
        )

    def statistics(self) -> dict[str, int]:
        """What is there, and what was handed out; `first_delivered` counts an event once in a consumer group."""
        return {
            "last_sequence_number": self.state().last_sequence_number,
            "events": len(self._events),
            "delivered": self._delivered,
            "first_delivered": len(self._known),
        }

    def _expire(self) -> None:
        limit = self._clock.now_ms() - self._retention_ms
        if self._events and self._events[0].enqueued_at_ms <= limit:
            del self._events[: bisect_right(self._events, limit, key=lambda event: event.enqueued_at_ms)]


def _mark(event: Event, mark: Mark) -> int:
    match mark:
        case Mark.OFFSET:
            return event.offset
        case Mark.SEQUENCE_NUMBER:
            return event.sequence_number
        case Mark.ENQUEUED_TIME:
            return event.enqueued_at_ms
