"""One locked message: settling it once, and keeping its lock while a function works on it."""

import asyncio
import logging
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusReceiver
from azure.servicebus.exceptions import MessageAlreadySettled, MessageLockLostError, ServiceBusError

from ..clock import Clock

# Deadline of one settlement or renewal; half of the shortest lock that hosted services use is far more than enough.
SETTLE_DEADLINE = 15.0
# .NET's SDK renews this long before the lock ends, or at half of what is left when that is sooner.
LONGEST_RENEWAL_BUFFER = timedelta(seconds=10)

_log = logging.getLogger(__name__)


class LockedMessage:
    """A peek-locked message, settled through the receiver it came from (a `Settleable`)."""

    def __init__(self, receiver: ServiceBusReceiver, received: ServiceBusReceivedMessage) -> None:
        self._receiver = receiver
        self._received = received
        self.settled = False

    @property
    def lock_token(self) -> str:
        """The lock token in the form functions see."""
        return str(self._received.lock_token)

    @property
    def message_id(self) -> str | None:
        """The sender's id, for logs."""
        return self._received.message_id

    @property
    def locked_until(self) -> datetime:
        """When the broker gives the message to someone else, in UTC by the broker's clock."""
        return self._received.locked_until_utc or datetime.now(UTC)

    async def complete(self) -> None:
        """Removes the message. Raises the SDK's error when the broker refuses."""
        await self._settle(self._receiver.complete_message(self._received))

    async def abandon(self) -> None:
        """Gives the message back. Raises the SDK's error when the broker refuses."""
        await self._settle(self._receiver.abandon_message(self._received))

    async def dead_letter(self, reason: str | None, description: str | None) -> None:
        """Dead-letters the message. Raises the SDK's error when the broker refuses."""
        await self._settle(self._receiver.dead_letter_message(self._received, reason, description))

    async def defer(self) -> None:
        """Sets the message aside. Raises the SDK's error when the broker refuses."""
        await self._settle(self._receiver.defer_message(self._received))

    async def renew_lock(self) -> None:
        """Restarts the lock's duration. Raises the SDK's error when the broker refuses."""
        await self._receiver.renew_message_lock(self._received, timeout=SETTLE_DEADLINE)

    async def _settle(self, settlement: Awaitable[None]) -> None:
        async with asyncio.timeout(SETTLE_DEADLINE):
            await settlement
        self.settled = True


async def keep_locked(message: LockedMessage, clock: Clock, longest: timedelta) -> None:
    """Renews the lock shortly before it ends, until cancelled, until it is lost, or until `longest` has passed."""
    last_renewal = clock.now() + longest
    while True:
        left = message.locked_until - clock.now()
        if left <= timedelta():
            return
        due = message.locked_until - min(left / 2, LONGEST_RENEWAL_BUFFER)
        if due > last_renewal:
            return
        await clock.sleep_until(due)
        try:
            await message.renew_lock()
            _log.debug("the lock of message %s was renewed", message.message_id)
        except (MessageLockLostError, MessageAlreadySettled):
            return  # nothing left to keep: settled by the function, or gone to another receiver
        except ServiceBusError as error:
            _log.warning(
                "the lock of message %s was not renewed, and will be tried again: %s", message.message_id, error
            )
