"""One partition, from the moment it is claimed until it is given up: batches, retries, checkpoints.

Source: `EventHubListener.PartitionProcessor.cs` of Microsoft.Azure.WebJobs.Extensions.EventHubs. As there, a batch is
checkpointed whether its function returned or raised: what must not be lost needs a retry policy that never gives up.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from azure.core.exceptions import AzureError
from azure.eventhub import EventData
from azure.eventhub.aio import PartitionContext

from ..bindings import TriggeredFunction
from ..wire import Result, RetryContext
from .base import Surroundings
from .event_hubs_connection import STORAGE_DEADLINE
from .event_hubs_encoding import UnsupportedBody, body_value, trigger_metadata
from .event_hubs_retries import with_retries

# The first event of a partition has sequence number 0.
BEFORE_FIRST = -1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Subscription:
    """What all partitions of one function share."""

    function: TriggeredFunction
    surroundings: Surroundings
    # Cardinality many: whole batches at a time; else event by event.
    many: bool
    # Called when a partition cannot go on; reading starts again at the checkpoints then.
    on_failure: Callable[[Exception], None]


class Partition:
    """Feeds one function with the events of one partition, one invocation at a time."""

    def __init__(self, subscription: Subscription, context: PartitionContext) -> None:
        self.context = context
        self._subscription = subscription
        self._clock = subscription.surroundings.clock
        self._options = subscription.surroundings.host_json.event_hubs
        self._name = f"{subscription.function.function.name} partition {context.partition_id}"
        self._turn = asyncio.Lock()
        self._closed = asyncio.Event()
        self._released = asyncio.Event()
        self._newest = BEFORE_FIRST
        # Only with a smallest batch: what waits for company, and until when.
        self._waiting: deque[EventData] = deque()
        self._waits_until: datetime | None = None
        self._has_invoked = False
        # Batches since the last checkpoint, and where the next one would be.
        self._batches = 0
        self._last_done: EventData | None = None

    async def take(self, events: Sequence[EventData]) -> None:
        """Handles what was received; the partition is not read further until this returns.

        With a smallest batch it also has to be called when there are no events: some may have waited long enough.
        """
        fresh = [event for event in events if self._is_fresh(event)]
        if not self._subscription.many:
            for event in fresh:
                await self._handle([event])
        elif self._options.min_event_batch_size > 1:
            await self._collect(fresh)
        elif fresh:
            await self._handle(fresh)

    def close(self) -> None:
        """Begins no other invocation or retry, and writes no checkpoint for the one that runs."""
        self._closed.set()

    def release(self) -> None:
        """Closes, and lets `take` return: another owner reads the partition now, or nobody."""
        self.close()
        self._released.set()

    async def idle(self) -> None:
        """Returns once no invocation runs."""
        async with self._turn:
            return

    async def checkpoint_rest(self) -> None:
        """Writes the checkpoint that batchCheckpointFrequency has put off, as production does on a clean stop.

        As there, it covers the last batch even when the stop has cut its retries short.
        """
        if self._options.batch_checkpoint_frequency > 1 and self._batches and self._last_done:
            try:
                await self._checkpoint(self._last_done)
            except (AzureError, OSError) as error:
                _log.warning("%s: no checkpoint on the way out: %s", self._name, error)

    def _is_fresh(self, event: EventData) -> bool:
        # After a lost connection the SDK reads again what it still has in its buffer.
        number = event.sequence_number
        if number is None or number <= self._newest:
            return False
        self._newest = number
        return True

    async def _collect(self, events: Sequence[EventData]) -> None:
        """Waits for company: minEventBatchSize events, or maxWaitTime."""
        self._waiting.extend(events)
        if not self._waiting:
            return
        now = self._clock.now()
        if self._waits_until is None:
            # Before its first invocation an instance cannot know how long the events have waited: they go at once.
            self._waits_until = now + self._options.max_wait if self._has_invoked else now
        if len(self._waiting) >= self._options.min_event_batch_size or now >= self._waits_until:
            size = min(len(self._waiting), self._options.max_event_batch_size)
            self._waits_until = None
            await self._handle([self._waiting.popleft() for _ in range(size)])

    async def _handle(self, batch: list[EventData]) -> None:
        async with self._turn:
            if not self._closed.is_set():
                try:
                    await self._process(batch)
                except Exception as error:  # noqa: BLE001  whatever it was: the events must be read again
                    self.close()
                    self._subscription.on_failure(error)
        if self._closed.is_set():
            # The SDK must not fetch more meanwhile; its reader is about to be cancelled.
            await self._released.wait()

    async def _process(self, batch: list[EventData]) -> None:
        self._batches += 1
        is_due = self._batches >= self._options.batch_checkpoint_frequency
        policy = self._subscription.function.function.retry_policy
        result = await with_retries(lambda retry: self._invoke(batch, retry, is_due), policy, self._pause)
        self._has_invoked = True
        if result.error is not None and not self._closed.is_set():
            numbers = f"{batch[0].sequence_number} to {batch[-1].sequence_number}"
            _log.error("%s: events %s failed and will not be retried", self._name, numbers)
        self._last_done = batch[-1]
        if is_due and not self._closed.is_set():
            await self._checkpoint(batch[-1])

    async def _invoke(self, batch: list[EventData], retry: RetryContext, is_due: bool) -> Result:
        function, many = self._subscription.function, self._subscription.many
        try:
            value = body_value(batch, many=many, data_type=function.text("dataType"))
        except UnsupportedBody as error:
            result = Result("-", str(error))
        else:
            metadata = trigger_metadata(batch, self._description(is_due), many=many)
            invoker = self._subscription.surroundings.invoker
            result = await invoker.invoke(function.function, function.parameter, value, metadata, retry)
        if result.error is not None:
            text = f"{result.error} {result.stack_trace.rstrip()}".replace("\n", "\\n")
            _log.error("%s %s failed: %s", self._name, result.invocation_id, text)
        return result

    async def _pause(self, retry: RetryContext, delay: timedelta) -> bool:
        """Waits before a retry; False when the partition is given up meanwhile."""
        _log.info("%s: retry %d of %d in %s", self._name, retry.retry_count, retry.max_retry_count, delay)
        sleeping = asyncio.create_task(self._clock.sleep_until(self._clock.now() + delay))
        closing = asyncio.create_task(self._closed.wait())
        try:
            await asyncio.wait((sleeping, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            closing.cancel()
        return not self._closed.is_set()

    async def _checkpoint(self, event: EventData) -> None:
        async with asyncio.timeout(STORAGE_DEADLINE):
            await self.context.update_checkpoint(event)
        self._batches = 0
        _log.debug("%s: checkpoint at %s", self._name, event.sequence_number)

    def _description(self, is_due: bool) -> dict[str, str | bool]:
        """`TriggerPartitionContext` as JSON."""
        return {
            "IsCheckpointingAfterInvocation": is_due,
            # .NET names the host alone; the SDK adds the port, which only a stand-in's address has.
            "FullyQualifiedNamespace": self.context.fully_qualified_namespace.partition(":")[0],
            "EventHubName": self.context.eventhub_name,
            "ConsumerGroup": self.context.consumer_group,
            "PartitionId": self.context.partition_id,
        }
