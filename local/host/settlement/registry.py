"""The messages that functions may settle right now, by lock token."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Settleable(Protocol):
    """One locked message and what can be done with it; each call raises when the broker refuses."""

    async def complete(self) -> None:
        """Removes the message from the queue."""

    async def abandon(self) -> None:
        """Gives the message back for immediate redelivery; its delivery count has gone up."""

    async def dead_letter(self, reason: str | None, description: str | None) -> None:
        """Moves the message to the dead-letter sub-queue."""

    async def defer(self) -> None:
        """Sets the message aside until someone asks for its sequence number."""

    async def renew_lock(self) -> None:
        """Restarts the lock's duration."""


class UnknownLockToken(Exception):
    """No running invocation holds this token: it never existed, or its invocation has ended."""


class SettlementRegistry:
    """Lock tokens live exactly as long as the invocation that got them, as in the extension's ActionsCache."""

    def __init__(self) -> None:
        self._messages: dict[str, Settleable] = {}

    @contextmanager
    def holding(self, lock_token: str, message: Settleable) -> Iterator[None]:
        """Makes the message settleable while the block runs."""
        self._messages[lock_token] = message
        try:
            yield
        finally:
            del self._messages[lock_token]

    def find(self, lock_token: str) -> Settleable:
        """The message behind a token. Raises UnknownLockToken."""
        try:
            return self._messages[lock_token]
        except KeyError as error:
            raise UnknownLockToken(lock_token) from error
