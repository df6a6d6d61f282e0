"""What happened to the messages of a queue, counted where it happens."""

from dataclasses import asdict, dataclass


@dataclass(slots=True)
class Counts:
    """Events since the broker started. A message in the queue is one `sent` that no other way out has taken."""

    sent: int = 0  # messages a sender was told are accepted, duplicates included
    dropped_as_duplicate: int = 0  # of those, dropped by duplicate detection
    deliveries: int = 0  # times a receiver was given a message
    completed: int = 0  # messages removed by complete
    received_and_deleted: int = 0  # messages removed by being delivered, in receive-and-delete mode
    abandoned: int = 0  # deliveries given back, counted as failed
    released: int = 0  # deliveries given back, not counted as failed
    lock_expired: int = 0  # deliveries whose lock ran out
    dead_lettered: int = 0  # messages moved to the dead-letter queue, for whatever reason
    expired: int = 0  # messages dropped at the end of their life
    cancelled: int = 0  # scheduled messages taken back by their sender

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return asdict(self)
