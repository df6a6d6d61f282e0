"""The Event Hubs trigger: partitions claimed, read and checkpointed by the real SDK; each is one `Partition`.

Source: `EventHubListener.cs` and `EventProcessorHost.cs` of Microsoft.Azure.WebJobs.Extensions.EventHubs. Ownership and
checkpoints are the SDK's own, in the blob container that production uses. It does not know whether a real namespace or
a stand-in is behind the connection setting.
"""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from datetime import timedelta

from azure.eventhub import CloseReason, EventData
from azure.eventhub.aio import EventHubConsumerClient, PartitionContext

from ..bindings import TriggeredFunction
from ..errors import HostError, WorkerLost
from .base import Surroundings
from .event_hubs_connection import STORAGE_DEADLINE, Checkpoints, connected, create_container, opened_checkpoints
from .event_hubs_partition import BEFORE_FIRST, Partition, Subscription

DEFAULT_GROUP = "$Default"
# Cardinality one: the SDK hands over event by event, as production's processor does.
ONE = 1
# Seconds between two looks at events that wait for company (minEventBatchSize).
COMPANY_POLL = 0.1
# How long running invocations may go on after a rewind was asked for.
REWIND_GRACE = timedelta(seconds=10)
# Seconds between two tries when the hub or the storage is away.
PAUSE = 1.0

_log = logging.getLogger(__name__)


class EventHubsListener:
    """Reads the partitions of one hub that this host owns, and invokes one function."""

    def __init__(self, function: TriggeredFunction, surroundings: Surroundings) -> None:
        self.name = function.function.name
        self._settings = surroundings.settings
        self._invoker = surroundings.invoker
        self._options = surroundings.host_json.event_hubs
        if function.text("dataType").lower() == "stream":
            raise HostError(f"function {self.name}: an Event Hubs trigger binds as string or binary, not as stream")
        self._connection = function.text("connection")
        self._hub = self._settings.resolve(function.text("eventHubName"))
        self._group = self._settings.resolve(function.text("consumerGroup")) or DEFAULT_GROUP
        many = function.text("cardinality").lower() == "many"
        self._subscription = Subscription(function, surroundings, many, self._fail)
        self._partitions: dict[str, Partition] = {}
        self._failure: asyncio.Future[None]
        # Held by whoever stops reading, or starts it again.
        self._changing = asyncio.Lock()
        self._opened = AsyncExitStack()
        self._checkpoints: Checkpoints
        self._reading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begins to read; a hub or a storage account that is not there yet is tried again and again.

        Raises HostError when a connection setting is missing or unusable.
        """
        self._checkpoints = await self._opened.enter_async_context(opened_checkpoints(self._settings))
        async with self._connected():
            pass  # only to refuse a connection setting that cannot work
        self._reading = asyncio.create_task(self._keep_reading())
        _log.info("%s listens to %s", self.name, self._hub)

    async def stop(self, grace: timedelta) -> None:
        """Reads no more and waits for running invocations; those that take too long are left to their worker.

        Nothing is checkpointed any more, except what batchCheckpointFrequency has put off: events that were being
        processed come again.
        """
        async with self._changing:
            await self._stop_reading(grace)
            self._reading = None
        await self._opened.aclose()

    async def rewind(self, partition: str, sequence_number: int) -> None:
        """Sets one partition's checkpoint to an earlier event (-1: before the first) and reads on from there.

        All partitions of the function are read anew, from their checkpoints. Raises HostError when this host does not
        own the partition.
        """
        if sequence_number < BEFORE_FIRST:
            raise HostError(f"sequence numbers begin at 0, and {BEFORE_FIRST} stands for before the first event")
        async with self._changing:
            if self._reading is None or partition not in self._partitions:
                owned = ", ".join(sorted(self._partitions)) or "none"
                raise HostError(f"function {self.name} does not read partition {partition} now (it reads: {owned})")
            context = self._partitions[partition].context
            await self._stop_reading(REWIND_GRACE)
            try:
                await self._write_checkpoint(context, sequence_number)
            finally:
                self._reading = asyncio.create_task(self._keep_reading())

    async def _write_checkpoint(self, context: PartitionContext, sequence_number: int) -> None:
        checkpoint = {
            "fully_qualified_namespace": context.fully_qualified_namespace,
            "eventhub_name": context.eventhub_name,
            "consumer_group": context.consumer_group,
            "partition_id": context.partition_id,
            "offset": str(BEFORE_FIRST),  # nobody knows the event's offset, and `Checkpoints` does not need it
            "sequence_number": sequence_number,
        }
        async with asyncio.timeout(STORAGE_DEADLINE):
            await self._checkpoints.update_checkpoint(checkpoint)

    def _connected(self) -> AbstractAsyncContextManager[EventHubConsumerClient]:
        return connected(self._settings, self._connection, self._hub, self._group, self._checkpoints, self._options)

    async def _stop_reading(self, grace: timedelta) -> None:
        partitions = list(self._partitions.values())
        for partition in partitions:
            partition.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace.total_seconds()):
                await asyncio.gather(*(partition.idle() for partition in partitions))
                await asyncio.gather(*(partition.checkpoint_rest() for partition in partitions))
        if self._reading:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading

    async def _keep_reading(self) -> None:
        while True:
            await self._invoker.ready()
            try:
                await self._read()
            except WorkerLost as error:
                _log.warning("%s reads again from its checkpoints: %s", self.name, error)
            except Exception as error:  # noqa: BLE001  whatever it was: a listener must not end while its host goes on
                _log.warning("%s could not read %s, and will try again: %s", self.name, self._hub, error)
                await asyncio.sleep(PAUSE)

    async def _read(self) -> None:
        """Reads until a partition fails, like an instance that lives until it is lost. Raises why it failed."""
        self._failure = asyncio.get_running_loop().create_future()
        await create_container(self._settings)
        async with self._connected() as client:
            receiving = asyncio.create_task(self._receive(client))
            try:
                done, _ = await asyncio.wait((receiving, self._failure), return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    each.result()
            finally:
                self._failure.cancel()
                receiving.cancel()
                await asyncio.gather(receiving, return_exceptions=True)
                self._partitions.clear()

    async def _receive(self, client: EventHubConsumerClient) -> None:
        await client.receive_batch(
            self._take,
            max_batch_size=self._options.max_event_batch_size if self._subscription.many else ONE,
            max_wait_time=COMPANY_POLL if self._options.min_event_batch_size > 1 else None,
            prefetch=self._options.prefetch_count,
            starting_position=self._options.initial_position,
            on_partition_initialize=self._open_partition,
            on_partition_close=self._close_partition,
            on_error=self._note,
        )

    async def _open_partition(self, context: PartitionContext) -> None:
        self._partitions[context.partition_id] = Partition(self._subscription, context)
        _log.info("%s reads partition %s", self.name, context.partition_id)

    async def _close_partition(self, context: PartitionContext, reason: CloseReason) -> None:
        if partition := self._partitions.pop(context.partition_id, None):
            partition.release()
        _log.info("%s reads partition %s no more: %s", self.name, context.partition_id, reason.name)

    async def _take(self, context: PartitionContext, events: list[EventData]) -> None:
        await self._partitions[context.partition_id].take(events)

    async def _note(self, context: PartitionContext | None, error: Exception) -> None:
        where = f"partition {context.partition_id}" if context else "its partitions"
        _log.warning("%s: %s of %s: %s", self.name, where, self._hub, error)
        if not self._partitions:
            # Nothing to lose, and the SDK would wait for its next round of load balancing: half a minute.
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)
