"""Links that clients receive from: where they start, who may have them, and what flows."""

import asyncio
from collections import defaultdict

from local.amqp import Outcome, OutgoingLink
from local.broker import Clock, InvalidRequest, MicrosoftCondition

from .encoding import MAX_PUBLICATION_SIZE, write_event
from .ownership import Ownership
from .partition import Partition, PartitionState
from .selector import BEGINNING, parse_selector

SELECTOR_FILTER = "apache.org:selector-filter:string"
EPOCH_PROPERTY = "com.microsoft:epoch"
NAME_PROPERTY = "com.microsoft:receiver-name"
UNNAMED = "nil"  # what the service calls a receiver that has not said its name
RUNTIME_METRIC = "com.microsoft:enable-receiver-runtime-metric"
TAG_SIZE = 8  # bytes; the tag of a delivery is its sequence number


class Receiver:
    """One link from a partition. Implements the engine's Source."""

    def __init__(self, link: OutgoingLink, consumer_group: str, readers: "Readers") -> None:
        """Raises InvalidRequest, PositionInvalid when the client asks for what cannot be."""
        self.epoch = _epoch(link)
        self.name = str(link.properties.get(NAME_PROPERTY) or UNNAMED)
        self.link = link
        self.consumer_group = consumer_group
        self._readers = readers
        self._with_metrics = link.desires(RUNTIME_METRIC)
        selector = link.filters.get(SELECTOR_FILTER)
        self._next = readers.partition.start(BEGINNING if selector is None else parse_selector(selector))

    def on_credit(self) -> None:
        """Send what there is, as far as the credit goes."""
        while self.link.credit > 0:
            event = self._readers.partition.deliver(self._next, self.consumer_group)
            if event is None:
                return
            self._next = event.sequence_number + 1
            encoded = write_event(event, self._readers.retrieved() if self._with_metrics else None)
            self.link.send(encoded, event.sequence_number.to_bytes(TAG_SIZE), settled=True)

    def on_outcome(self, tag: bytes, outcome: Outcome) -> Outcome:  # noqa: ARG002 - events are sent settled
        return outcome

    def on_detached(self) -> None:
        self._readers.remove(self)


class Readers:
    """The receivers of one partition, in all consumer groups."""

    def __init__(self, partition: Partition, clock: Clock) -> None:
        self.partition = partition
        self._clock = clock
        self._owners: defaultdict[str, Ownership[Receiver]] = defaultdict(Ownership)  # by consumer group
        self._attached: list[Receiver] = []
        self._scheduled = False
        partition.on_appended = self._wake

    def attach(self, link: OutgoingLink, consumer_group: str) -> None:
        """Let a client receive, and put out whom it steals from. Raises an AmqpError when it is not let in."""
        receiver = Receiver(link, consumer_group, self)
        for loser, reason in self._owners[consumer_group].admit(receiver):
            self._attached.remove(loser)
            loser.link.close(reason)
        self._attached.append(receiver)
        link.accept(receiver, MAX_PUBLICATION_SIZE)

    def remove(self, receiver: Receiver) -> None:
        """A receiver is gone, by itself or because it was put out before."""
        self._owners[receiver.consumer_group].remove(receiver)
        if receiver in self._attached:
            self._attached.remove(receiver)

    def retrieved(self) -> tuple[PartitionState, int]:
        """How far the partition reaches, and the instant that this is said."""
        return self.partition.state(), self._clock.now_ms()

    def _wake(self) -> None:
        """Give once the current frame is handled, so that a sender is answered before its events go out."""
        if self._attached and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._give)

    def _give(self) -> None:
        self._scheduled = False
        for receiver in list(self._attached):
            receiver.on_credit()


def _epoch(link: OutgoingLink) -> int | None:
    epoch = link.properties.get(EPOCH_PROPERTY)
    if epoch is None:
        return None
    if not isinstance(epoch, int) or epoch < 0:
        text = f"The epoch must be a number from 0, not {epoch!r}."
        raise InvalidRequest(text, MicrosoftCondition.ARGUMENT_OUT_OF_RANGE)
    return int(epoch)
