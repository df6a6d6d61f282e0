"""Links that clients send into."""

from local.amqp import IncomingDelivery

from .encoding import read_transfer
from .queue import Queue


class Sender:
    """One link into a queue. Implements the engine's Sink."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def on_message(self, delivery: IncomingDelivery) -> None:
        """Take a message or a whole batch in; when one message of a batch is not acceptable, none is taken."""
        self._queue.send(read_transfer(delivery.encoded, delivery.message_format))
        delivery.accept()

    def on_detached(self) -> None:
        """Nothing is left to do: what was accepted stays."""
