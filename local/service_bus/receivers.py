"""Links that clients receive from: who gets the next message, and what they decide about it."""

import asyncio
import uuid
from collections import deque

from local.amqp import Accepted, AmqpError, ErrorInfo, Modified, Outcome, OutgoingLink, Rejected, Released

from .encoding import property_changes, write_message
from .queue import DESCRIPTION_PROPERTY, REASON_PROPERTY, Queue


class Receiver:
    """One link to a queue. Implements the engine's Source."""

    def __init__(self, link: OutgoingLink, queue: Queue, dispatcher: "Dispatcher") -> None:
        self._link = link
        self._queue = queue
        self._dispatcher = dispatcher

    def deliver_next(self) -> bool:
        """Send the next message, if the client has credit and the queue has a message. Returns whether it did."""
        if self._link.credit <= 0:
            return False
        settled = self._link.wants_settled
        message = self._queue.take_next() if settled else self._queue.lock_next()
        if message is None:
            return False
        # The tag of a locked delivery is its lock token, in the byte order of .NET's Guid (protocol guide).
        token = message.lock_token or uuid.uuid4()
        self._link.send(write_message(message), token.bytes_le, settled=settled)
        return True

    def on_credit(self) -> None:
        while self.deliver_next():
            pass

    def on_outcome(self, tag: bytes, outcome: Outcome) -> Outcome:
        """Settle the message. The answer repeats the outcome, or rejects it when it came too late."""
        try:
            return settle(self._queue, uuid.UUID(bytes_le=tag), outcome)
        except AmqpError as error:
            return Rejected(ErrorInfo.of(error))

    def on_detached(self) -> None:
        """What this link was given stays locked until the locks expire, as in the service."""
        self._dispatcher.remove(self)


class Dispatcher:
    """Deals the messages of a queue out to its receivers in turn."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._receivers: deque[Receiver] = deque()
        self._scheduled = False
        queue.on_available = self._wake

    def attach(self, link: OutgoingLink) -> Receiver:
        """A new receiver."""
        receiver = Receiver(link, self._queue, self)
        self._receivers.append(receiver)
        return receiver

    def remove(self, receiver: Receiver) -> None:
        """A receiver is gone."""
        self._receivers.remove(receiver)

    def _wake(self) -> None:
        """Deal once the current frame is handled, so that a settlement is answered before what it sets free is sent."""
        if self._receivers and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._deal)

    def _deal(self) -> None:
        self._scheduled = False
        idle = 0
        while self._receivers and idle < len(self._receivers):
            receiver = self._receivers[0]
            self._receivers.rotate(-1)
            idle = 0 if receiver.deliver_next() else idle + 1


def settle(queue: Queue, token: uuid.UUID, outcome: Outcome) -> Outcome:
    """Do what a receiver decided, and return the outcome to answer with; raises LockLost and other AmqpErrors."""
    match outcome:
        case Accepted():
            queue.complete(token)
        case Released():
            queue.release(token)
        case Modified(undeliverable_here=True, message_annotations=changes):
            queue.defer(token, property_changes(changes))
        case Modified(delivery_failed=True, message_annotations=changes):
            queue.abandon(token, property_changes(changes))
        case Modified():
            queue.release(token)
        case Rejected(error):
            info = {} if error is None else property_changes(error.info)
            reason = info.pop(REASON_PROPERTY, None)
            description = info.pop(DESCRIPTION_PROPERTY, None) or (error.description if error is not None else None)
            queue.dead_letter(token, reason, description, info)
            return Rejected()
    return outcome
