"""The invocation that the running code belongs to: what it brought, and what has become of it so far."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ..idempotency import Delivery, DeliveryEnded


@dataclass(frozen=True, slots=True)
class Underway:
    """One invocation of a trigger."""

    consumer: str
    """The consumer's name."""
    deliveries: Sequence[Delivery]
    """What came."""
    ended: list[DeliveryEnded] = field(default_factory=list)
    """What has been told of their ends; grows."""

    @property
    def only(self) -> Delivery | None:
        """The delivery, where it is one: what belongs to the invocation then belongs to it."""
        return self.deliveries[0] if len(self.deliveries) == 1 else None

    def end_of(self, delivery: Delivery) -> DeliveryEnded | None:
        """How a delivery ended; None while that is open."""
        return next((end for end in self.ended if end.delivery is delivery), None)


_underway: ContextVar[Underway | None] = ContextVar("underway", default=None)
"""Each invocation is a task of its own, and the tasks that it starts see the same."""


def underway() -> Underway | None:
    """The invocation at work; None outside of any."""
    return _underway.get()


@contextmanager
def begun(consumer: str, deliveries: Sequence[Delivery]) -> Iterator[Underway]:
    """Make an invocation the one at work while the block runs."""
    invocation = Underway(consumer, deliveries)
    token = _underway.set(invocation)
    try:
        yield invocation
    finally:
        _underway.reset(token)
