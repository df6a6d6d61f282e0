"""Whatever is done to a queue, in whatever order: no message is lost and none is counted twice."""

import uuid

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from local.service_bus.faults import LockLost, MessageNotFound
from local.service_bus.stored import MessageState

from .builders import LOCK, NOON, WINDOW, a_queue, a_submission, still_clock

EXITS = ("dropped_as_duplicate", "completed", "received_and_deleted", "dead_lettered", "expired", "cancelled")
CONDITIONS = ("active", "locked", "scheduled", "deferred")


class Ledger(RuleBasedStateMachine):
    """Random operations on a queue of three deliveries, with a few message ids so that duplicates happen."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = still_clock()
        self.queue = a_queue(self.clock)
        self.tokens: list[uuid.UUID] = []

    @rule(message_id=st.sampled_from("abcdef"), delay=st.sampled_from([0, 30]), life=st.sampled_from([None, 20_000]))
    def send(self, message_id: str, delay: int, life: int | None) -> None:
        at = self.clock.now_ms() + delay * 1000
        self.queue.send([a_submission(message_id, scheduled_for_ms=at, time_to_live_ms=life)])

    @rule()
    def lock(self) -> None:
        message = self.queue.lock_next()
        if message is not None and message.lock_token is not None:
            self.tokens.append(message.lock_token)

    @rule()
    def take(self) -> None:
        self.queue.take_next()

    @rule(data=st.data(), action=st.sampled_from(["complete", "abandon", "release", "defer", "dead-letter", "renew"]))
    def settle(self, data: st.DataObject, action: str) -> None:
        token = data.draw(st.sampled_from(self.tokens)) if self.tokens else uuid.uuid4()
        try:
            match action:
                case "complete":
                    self.queue.complete(token)
                case "abandon":
                    self.queue.abandon(token, {})
                case "release":
                    self.queue.release(token)
                case "defer":
                    self.queue.defer(token, {})
                case "dead-letter":
                    self.queue.dead_letter(token, "r", "d", {})
                case "renew":
                    self.queue.renew([token])
        except LockLost:
            pass

    @rule(data=st.data(), lock=st.booleans())
    def receive_deferred(self, data: st.DataObject, lock: bool) -> None:
        deferred = [message for message in self.queue.peek(0, 99) if message.state is MessageState.DEFERRED]
        if deferred:
            try:
                [message] = self.queue.receive_deferred(
                    [data.draw(st.sampled_from(deferred)).sequence_number], lock=lock
                )
            except MessageNotFound:
                return
            self.tokens += [message.lock_token] if message.lock_token else []

    @rule()
    def cancel(self) -> None:
        scheduled = [message for message in self.queue.peek(0, 99) if message.state is MessageState.SCHEDULED]
        self.queue.cancel_scheduled([message.sequence_number for message in scheduled])

    @rule(seconds=st.sampled_from([1, LOCK - 1, LOCK, WINDOW]))
    def advance(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @invariant()
    def nothing_is_lost(self) -> None:
        now = self.queue.statistics()
        assert now["sent"] == sum(now[name] for name in EXITS + CONDITIONS)
        assert now["dead_lettered"] == now["dead_letter"]
        assert now["locked"] <= now["deliveries"]
        assert self.clock.now_ms() >= NOON


Ledger.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLedger = Ledger.TestCase
