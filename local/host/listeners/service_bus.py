"""The Service Bus trigger: peek-lock over the real SDK, one message an invocation, settled as the extension settles.

Source: `ServiceBusListener.cs` and `MessageProcessor.cs` of Microsoft.Azure.WebJobs.Extensions.ServiceBus (single
dispatch). It does not know whether a real namespace or a stand-in is behind the connection setting.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusReceiver
from azure.servicebus.exceptions import ServiceBusError

from ..bindings import TriggeredFunction
from ..errors import HostError, WorkerLost
from .base import Surroundings
from .service_bus_connection import connected
from .service_bus_encoding import UnsupportedBody, body_value, trigger_metadata
from .service_bus_lock import LockedMessage, keep_locked

# A receive asks for one message: for more, the SDK would wait 0.2 s for companions before it hands over the first.
ONE = 1
# How long one receive waits for a message before the loop asks again.
RECEIVE_WAIT = 30.0
# How long the SDK holds on to its socket when it waits for a frame. All who wait on one connection take turns, so each
# receive and each settlement takes about this long; the SDK's own 0.2 s would make a single message take 0.4 s.
SOCKET_POLL = 0.05
# Pause after a receive that failed; the SDK has retried by then.
RECEIVE_PAUSE = 1.0

_log = logging.getLogger(__name__)


class ServiceBusListener:
    """Receives from one queue or subscription and invokes one function."""

    def __init__(self, function: TriggeredFunction, surroundings: Surroundings) -> None:
        self._function = function
        self._name = function.function.name
        self._invoker = surroundings.invoker
        self._settlements = surroundings.settlements
        self._clock = surroundings.clock
        self._options = surroundings.host_json.service_bus
        self._settings = surroundings.settings
        self._refuse_what_is_missing()
        self._auto_complete = bool(function.trigger.get("autoCompleteMessages", self._options.auto_complete_messages))
        self._free = asyncio.Semaphore(self._options.max_concurrent_calls)
        self._receiving: asyncio.Task[None] | None = None
        self._working: set[asyncio.Task[None]] = set()
        self._opened = AsyncExitStack()
        self._receiver: ServiceBusReceiver

    async def start(self) -> None:
        """Begins to receive; a broker that is not there yet is tried again and again.

        Raises HostError when the connection setting is missing or unusable.
        """
        client = await self._opened.enter_async_context(connected(self._settings, self._function.text("connection")))
        queue, topic, subscription = (
            self._settings.resolve(self._function.text(name)) for name in ("queueName", "topicName", "subscriptionName")
        )
        prefetch, poll = self._options.prefetch_count, SOCKET_POLL
        if queue:
            self._receiver = client.get_queue_receiver(queue, prefetch_count=prefetch, socket_timeout=poll)
        else:
            self._receiver = client.get_subscription_receiver(
                topic, subscription, prefetch_count=prefetch, socket_timeout=poll
            )
        self._opened.push_async_callback(self._receiver.close)
        self._receiving = asyncio.create_task(self._receive())
        _log.info("%s listens to %s", self._name, queue or f"{topic}/{subscription}")

    async def stop(self, grace: timedelta) -> None:
        """Receives no more, waits for running invocations, abandons the messages of those that take too long."""
        if self._receiving:
            self._receiving.cancel()
            with suppress(asyncio.CancelledError):
                await self._receiving
        if self._working:
            _, late = await asyncio.wait(self._working, timeout=grace.total_seconds())
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._opened.aclose()

    def _refuse_what_is_missing(self) -> None:
        if self._function.text("cardinality").lower() == "many":
            raise HostError(f"function {self._name}: the local host delivers Service Bus messages one at a time only")
        if self._function.trigger.get("isSessionsEnabled"):
            raise HostError(f"function {self._name}: the local host has no Service Bus sessions")
        if self._function.text("dataType").lower() == "stream":
            raise HostError(f"function {self._name}: a Service Bus trigger binds as string or binary, not as stream")

    async def _receive(self) -> None:
        while True:
            await self._invoker.ready()
            await self._free.acquire()
            message = await self._next_message()
            if message is None:
                self._free.release()
                continue
            task = asyncio.create_task(self._process(message))
            self._working.add(task)
            task.add_done_callback(self._done)

    async def _next_message(self) -> ServiceBusReceivedMessage | None:
        try:
            messages = await self._receiver.receive_messages(max_message_count=ONE, max_wait_time=RECEIVE_WAIT)
        except Exception as error:  # noqa: BLE001  whatever it was: a listener must not end while its host goes on
            _log.warning("%s could not receive, and will try again: %s", self._name, error)
            await asyncio.sleep(RECEIVE_PAUSE)
            return None
        return messages[0] if messages else None

    def _done(self, task: asyncio.Task[None]) -> None:
        self._working.discard(task)
        self._free.release()
        if not task.cancelled() and (error := task.exception()):
            _log.error("%s: the host failed on a message", self._name, exc_info=error)

    async def _process(self, received: ServiceBusReceivedMessage) -> None:
        message = LockedMessage(self._receiver, received)
        try:
            async with self._held(message):
                succeeded = await self._invoke(received)
        except WorkerLost as error:
            _log.warning("%s: message %s stays locked: %s", self._name, received.message_id, error)
        except asyncio.CancelledError:
            _log.warning("%s: message %s is given back, the host stops", self._name, received.message_id)
            await self._settle_rest(message, complete=False)
            raise
        else:
            if self._auto_complete or not succeeded:
                await self._settle_rest(message, complete=succeeded)

    async def _invoke(self, received: ServiceBusReceivedMessage) -> bool:
        try:
            value = body_value(received, self._function.text("dataType"))
        except UnsupportedBody as error:
            _log.error("%s: message %s: %s", self._name, received.message_id, error)
            return False
        function = self._function
        metadata = trigger_metadata(received)
        result = await self._invoker.invoke(function.function, function.parameter, value, metadata)
        if result.error is not None:
            text = f"{result.error} {result.stack_trace.rstrip()}".replace("\n", "\\n")
            _log.error("%s %s failed: %s", self._name, result.invocation_id, text)
        return result.error is None

    @asynccontextmanager
    async def _held(self, message: LockedMessage) -> AsyncIterator[None]:
        """While the block runs, the function can settle the message and the host keeps its lock."""
        renewal = asyncio.create_task(keep_locked(message, self._clock, self._options.max_auto_lock_renewal))
        try:
            with self._settlements.holding(message.lock_token, message):
                yield
        finally:
            renewal.cancel()
            with suppress(asyncio.CancelledError):
                await renewal

    async def _settle_rest(self, message: LockedMessage, *, complete: bool) -> None:
        if message.settled:
            return
        try:
            await (message.complete() if complete else message.abandon())
        except (ServiceBusError, TimeoutError, ValueError) as error:
            verb = "complete" if complete else "abandon"
            _log.warning("%s: could not %s message %s: %s", self._name, verb, message.message_id, error)
