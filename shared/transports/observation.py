"""Observation, as a port, for who wants to see an invocation whole: hooks are told of what is over."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from ..idempotency import Delivery

type Observe = Callable[[str, str, Sequence[Delivery]], AbstractContextManager[None]]
"""Given the consumer's name, the queue's or hub's, and what came, whose properties tell the producer's trace. What it
returns is open until everything is settled or parked; it changes nothing and raises nothing of its own."""


def unobserved(consumer: str, source: str, deliveries: Sequence[Delivery]) -> AbstractContextManager[None]:  # noqa: ARG001 - the port's
    """The observation of those who do not look."""
    return nullcontext()
