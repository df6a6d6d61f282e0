"""A queue's deliveries, by rule: order, locks, the ways to settle, and who is woken."""

import uuid

import pytest

from local.broker import Clock, InvalidRequest
from local.service_bus.faults import LockLost, MessageNotFound
from local.service_bus.queue import Queue
from local.service_bus.stored import MessageState

from .builders import LIFE, LOCK, NOON, a_submission, dead_letter_queue, locked, token_of


def test_messages_come_in_order_and_once(queue: Queue) -> None:
    """Messages are given out in the order they were sent, each to one receiver at a time."""
    queue.send([a_submission("1"), a_submission("2")])
    assert [locked(queue).message_id, locked(queue).message_id] == ["1", "2"]
    assert queue.lock_next() is None


def test_complete(queue: Queue) -> None:
    """A completed message is gone, and its lock with it."""
    queue.send([a_submission()])
    token = token_of(locked(queue))
    queue.complete(token)
    with pytest.raises(LockLost):
        queue.complete(token)
    assert queue.peek(0, 10) == []


def test_receive_and_delete(queue: Queue) -> None:
    """A message that is taken is gone at once."""
    queue.send([a_submission()])
    assert queue.take_next() is not None
    assert queue.peek(0, 10) == []


def test_abandon(queue: Queue) -> None:
    """An abandoned message is available at once, in its old place, with one more failure and the changes made."""
    queue.send([a_submission("1"), a_submission("2")])
    queue.abandon(token_of(locked(queue)), {"tried": "once"})
    message = locked(queue)
    assert (message.message_id, message.delivery_count, message.changes) == ("1", 1, {"tried": "once"})


def test_release(queue: Queue) -> None:
    """A released message is available at once, and the delivery does not count."""
    queue.send([a_submission()])
    queue.release(token_of(locked(queue)))
    assert locked(queue).delivery_count == 0


def test_lock_expires(queue: Queue, clock: Clock) -> None:
    """When a lock ends the message is available again, the delivery counts as failed, and its token is void."""
    queue.send([a_submission()])
    token = token_of(locked(queue))
    clock.advance(LOCK - 1)
    assert queue.lock_next() is None
    clock.advance(1)
    message = locked(queue)
    assert message.delivery_count == 1
    for settle in (
        queue.complete,
        queue.release,
        lambda late: queue.abandon(late, {}),
        lambda late: queue.defer(late, {}),
        lambda late: queue.dead_letter(late, None, None, {}),
        lambda late: queue.renew([late]),
    ):
        with pytest.raises(LockLost):
            settle(token)
    queue.complete(token_of(message))


def test_renewed_lock(queue: Queue, clock: Clock) -> None:
    """A renewed lock has its full duration again, and the receiver is told until when."""
    queue.send([a_submission()])
    token = token_of(locked(queue))
    clock.advance(LOCK - 1)
    assert queue.renew([token]) == [int((NOON + 2 * LOCK - 1) * 1000)]
    clock.advance(LOCK - 1)
    queue.complete(token)


def test_renewing_is_all_or_nothing(queue: Queue) -> None:
    """One token without a lock, and none is renewed."""
    queue.send([a_submission()])
    message = locked(queue)
    before = message.locked_until_ms
    with pytest.raises(LockLost):
        queue.renew([token_of(message), uuid.uuid4()])
    assert message.locked_until_ms == before


@pytest.mark.parametrize("way", ["abandon", "expiry"])
def test_too_many_deliveries(queue: Queue, clock: Clock, way: str) -> None:
    """After the last allowed delivery a message is dead-lettered, whether it was abandoned or its locks ran out."""
    queue.send([a_submission()])
    for _ in range(3):
        message = locked(queue)
        if way == "abandon":
            queue.abandon(token_of(message), {})
        else:
            clock.advance(LOCK)
    assert queue.lock_next() is None
    dead = locked(dead_letter_queue(queue))
    assert dead.changes["DeadLetterReason"] == "MaxDeliveryCountExceeded"
    assert dead.changes["DeadLetterErrorDescription"] == "Message could not be consumed after 3 delivery attempts."
    assert dead.delivery_count == 3


def test_released_deliveries_do_not_use_up_the_limit(queue: Queue) -> None:
    """A message can be released as often as one likes."""
    queue.send([a_submission()])
    for _ in range(10):
        queue.release(token_of(locked(queue)))
    assert locked(queue).delivery_count == 0


def test_dead_letter(queue: Queue) -> None:
    """A dead-lettered message is in the dead-letter queue with reason, description, changes and its old number."""
    queue.send([a_submission()])
    message = locked(queue)
    queue.dead_letter(token_of(message), "Malformed", "no order id", {"seen-by": "test"})
    assert queue.lock_next() is None
    dead = locked(dead_letter_queue(queue))
    assert dead.changes == {
        "DeadLetterReason": "Malformed",
        "DeadLetterErrorDescription": "no order id",
        "seen-by": "test",
    }
    assert dead.sequence_number == message.sequence_number


def test_dead_letter_queue_never_dead_letters(queue: Queue, clock: Clock) -> None:
    """In a dead-letter queue failures are counted but have no limit, nothing expires, and dead-lettering is refused."""
    queue.send([a_submission()])
    queue.dead_letter(token_of(locked(queue)), "r", "d", {})
    dead_letters = dead_letter_queue(queue)
    clock.advance(2 * LIFE)
    for _ in range(10):
        dead_letters.abandon(token_of(locked(dead_letters)), {})
    message = locked(dead_letters)
    assert message.delivery_count == 10
    with pytest.raises(InvalidRequest):
        dead_letters.dead_letter(token_of(message), "again", None, {})
    dead_letters.complete(token_of(message))


def test_deferred(queue: Queue, clock: Clock) -> None:
    """A deferred message comes by its number only, stays deferred when given back, and does not expire."""
    queue.send([a_submission()])
    message = locked(queue)
    queue.defer(token_of(message), {"later": "yes"})
    clock.advance(2 * LIFE)
    assert queue.lock_next() is None
    [again] = queue.receive_deferred([message.sequence_number], lock=True)
    assert (again.state, again.changes) == (MessageState.DEFERRED, {"later": "yes"})
    with pytest.raises(MessageNotFound):
        queue.receive_deferred([message.sequence_number], lock=True)
    queue.abandon(token_of(again), {})
    assert queue.lock_next() is None
    [again] = queue.receive_deferred([message.sequence_number], lock=True)
    assert again.delivery_count == 1
    queue.complete(token_of(again))


def test_receiving_deferred_is_all_or_nothing(queue: Queue) -> None:
    """One number that is not deferred, and none is given."""
    numbers = queue.send([a_submission("1"), a_submission("2")])
    queue.defer(token_of(locked(queue)), {})
    with pytest.raises(MessageNotFound):
        queue.receive_deferred(numbers, lock=True)
    assert len(queue.receive_deferred(numbers[:1], lock=False)) == 1
    assert [message.message_id for message in queue.peek(0, 10)] == ["2"]


def test_receivers_are_woken(queue: Queue, clock: Clock) -> None:
    """Whoever waits is told of every way in which a message becomes available."""
    woken: list[str] = []
    queue.on_available = lambda: woken.append("!")
    queue.send([a_submission("1")])
    queue.abandon(token_of(locked(queue)), {})
    queue.release(token_of(locked(queue)))
    locked(queue)
    clock.advance(LOCK)
    queue.catch_up()
    queue.send([a_submission("2", scheduled_for_ms=int((NOON + LOCK + 5) * 1000))])
    clock.advance(5)
    queue.catch_up()
    assert len(woken) == 5
