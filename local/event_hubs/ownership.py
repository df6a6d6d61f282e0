"""Who may read a partition in a consumer group: epochs. Pure.

Source: Microsoft, "Event Hubs features: consumer groups", and the blog post "Event Hubs Receiver Epoch".
"""

from typing import Protocol

from .faults import ReceiverStolen, TooManyReceivers

MOST_RECEIVERS = 5  # without epoch, of one partition in one consumer group


class Reader(Protocol):
    """A receiver, as far as its rights go."""

    @property
    def epoch(self) -> int | None:
        """Its claim to read alone; None: it reads beside others."""

    @property
    def name(self) -> str:
        """What errors call it."""


class Ownership[R: Reader]:
    """The receivers of one partition in one consumer group."""

    def __init__(self) -> None:
        self._readers: list[R] = []

    def admit(self, reader: R) -> list[tuple[R, ReceiverStolen]]:
        """Let a receiver in. Returns those that have to go for it, each with what it is told.

        Raises ReceiverStolen when a higher claim stands, TooManyReceivers.
        """
        if reader.epoch is None:
            self._require_room()
            losers = []
        else:
            self._require_highest(reader, reader.epoch)
            losers = self._readers
            self._readers = []
        self._readers.append(reader)
        return [(loser, _stolen(loser, reader)) for loser in losers]

    def remove(self, reader: R) -> None:
        """A receiver is gone; nothing happens when it was put out before."""
        if reader in self._readers:
            self._readers.remove(reader)

    def _require_room(self) -> None:
        epochs = [reader.epoch for reader in self._readers if reader.epoch is not None]
        if epochs:
            text = f"At least one receiver for the endpoint is created with epoch of '{max(epochs)}', and so "
            text += "non-epoch receiver is not allowed. Either reconnect with a higher epoch, or make sure all "
            text += "epoch receivers are closed or disconnected."
            raise ReceiverStolen(text)
        if len(self._readers) >= MOST_RECEIVERS:
            raise TooManyReceivers(MOST_RECEIVERS, [reader.name for reader in self._readers])

    def _require_highest(self, reader: R, epoch: int) -> None:
        for other in self._readers:
            if other.epoch is not None and other.epoch > epoch:
                text = f"Receiver '{other.name}' with a higher epoch '{other.epoch}' already exists. Receiver "
                text += f"'{reader.name}' with epoch {epoch} cannot be created. Make sure you are creating receiver "
                text += "with increasing epoch value to ensure connectivity, or ensure all old epoch receivers are "
                text += "closed or disconnected."
                raise ReceiverStolen(text)


def _stolen(loser: Reader, winner: Reader) -> ReceiverStolen:
    text = f"New receiver '{winner.name}' with higher epoch of '{winner.epoch}' is created hence current receiver "
    text += f"'{loser.name}' with epoch '{loser.epoch}' is getting disconnected. If you are recreating the receiver, "
    return ReceiverStolen(text + "make sure a higher epoch is used.")
