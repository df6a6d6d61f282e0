"""Links that clients send into."""

from local.amqp import IncomingDelivery

from .encoding import read_transfer
from .hub import EventHub


class Sender:
    """One link into an event hub, or into one of its partitions. Implements the engine's Sink."""

    def __init__(self, hub: EventHub, partition_id: str | None) -> None:
        self._hub = hub
        self._partition_id = partition_id

    def on_message(self, delivery: IncomingDelivery) -> None:
        """Take an event or a whole batch in; when one event of a batch is not acceptable, none is taken."""
        self._hub.publish(read_transfer(delivery.encoded, delivery.message_format), self._partition_id)
        delivery.accept()

    def on_detached(self) -> None:
        """Nothing is left to do: what was accepted stays."""
