"""What time does in a queue: windows in which copies are dropped, lives that end and schedules."""

import pytest

from local.broker import Clock
from local.service_bus.faults import MessageNotFound
from local.service_bus.queue import Queue
from local.service_bus.stored import MessageState

from .builders import LIFE, LOCK, NOON, WINDOW, a_queue, a_submission, dead_letter_queue, locked, token_of


def test_duplicate_within_the_window(queue: Queue, clock: Clock) -> None:
    """The second message with an id is dropped, also when the first is long completed; the sender gets a number."""
    queue.send([a_submission("1")])
    queue.complete(token_of(locked(queue)))
    clock.advance(WINDOW - 1)
    assert queue.send([a_submission("1"), a_submission("2")]) == [2, 3]
    assert [message.message_id for message in queue.peek(0, 10)] == ["2"]
    assert (queue.counts.sent, queue.counts.dropped_as_duplicate) == (3, 1)


def test_duplicate_outside_the_window(queue: Queue, clock: Clock) -> None:
    """After the window, counted from the first acceptance, an id is new; dropped copies have not prolonged it."""
    queue.send([a_submission("1")])
    clock.advance(WINDOW / 2)
    queue.send([a_submission("1")])
    clock.advance(WINDOW / 2)
    queue.send([a_submission("1")])
    assert len(queue.peek(0, 10)) == 2
    assert queue.counts.dropped_as_duplicate == 1


def test_no_window_no_detection(clock: Clock) -> None:
    """A queue without a detection window keeps every copy."""
    queue = a_queue(clock, detection_window=None)
    queue.send([a_submission("1"), a_submission("1")])
    assert len(queue.peek(0, 10)) == 2


def test_redelivery_is_no_duplicate(queue: Queue) -> None:
    """Duplicate detection is about sending: it does not stop a message from being delivered twice."""
    queue.send([a_submission("1")])
    queue.abandon(token_of(locked(queue)), {})
    assert locked(queue).message_id == "1"


def test_expiry_dead_letters(queue: Queue, clock: Clock) -> None:
    """A message that nobody received in its life is dead-lettered with the service's reason."""
    queue.send([a_submission("short", time_to_live_ms=1000), a_submission("long", time_to_live_ms=10 * LIFE * 1000)])
    clock.advance(1)
    assert [message.message_id for message in queue.peek(0, 10)] == ["long"]
    clock.advance(LIFE)
    assert queue.peek(0, 10) == []
    dead = dead_letter_queue(queue).peek(0, 10)
    assert [message.message_id for message in dead] == ["short", "long"]
    assert dead[0].changes["DeadLetterReason"] == "TTLExpiredException"
    assert dead[0].delivery_count == 0


def test_expiry_drops(clock: Clock) -> None:
    """Where the queue says so, expired messages are dropped, and counted."""
    queue = a_queue(clock, dead_letter_on_expiration=False)
    queue.send([a_submission()])
    clock.advance(LIFE)
    assert queue.statistics()["expired"] == 1
    assert queue.statistics()["dead_letter"] == 0


def test_a_locked_message_does_not_expire(queue: Queue, clock: Clock) -> None:
    """A message that expires under lock can still be completed; given back, it expires at once."""
    queue.send([a_submission("1", time_to_live_ms=1000), a_submission("2", time_to_live_ms=1000)])
    first, second = locked(queue), locked(queue)
    clock.advance(2)
    queue.complete(token_of(first))
    queue.abandon(token_of(second), {})
    assert queue.lock_next() is None
    assert queue.statistics()["dead_letter"] == 1


def test_scheduled(queue: Queue, clock: Clock) -> None:
    """A scheduled message waits for its time, then enters with a new number; its life begins there."""
    at = int((NOON + 2 * LIFE) * 1000)
    [number] = queue.send([a_submission("later", scheduled_for_ms=at)])
    assert queue.peek(0, 10)[0].state is MessageState.SCHEDULED
    queue.send([a_submission("now")])
    assert locked(queue).message_id == "now"
    assert queue.lock_next() is None
    clock.advance(2 * LIFE + 1)
    message = locked(queue)
    assert (message.message_id, message.enqueued_at_ms, message.state) == ("later", at, MessageState.ACTIVE)
    assert message.sequence_number > number


def test_cancelled_schedule(queue: Queue, clock: Clock) -> None:
    """A scheduled message can be taken back until its time; all of them, or none."""
    at = int((NOON + 10) * 1000)
    first, second = queue.send([a_submission("1", scheduled_for_ms=at), a_submission("2", scheduled_for_ms=at)])
    with pytest.raises(MessageNotFound):
        queue.cancel_scheduled([first, 99])
    queue.cancel_scheduled([first])
    clock.advance(10)
    assert locked(queue).message_id == "2"
    with pytest.raises(MessageNotFound):
        queue.cancel_scheduled([second])


def test_what_time_does_happens_in_order(queue: Queue, clock: Clock) -> None:
    """After a long jump everything has happened as if time had passed step by step."""
    queue.send([a_submission("1", time_to_live_ms=(LOCK + 1) * 1000)])
    locked(queue)
    clock.advance(10 * LIFE)
    [dead] = dead_letter_queue(queue).peek(0, 10)
    assert (dead.changes["DeadLetterReason"], dead.delivery_count) == ("TTLExpiredException", 1)
