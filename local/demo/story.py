"""Sends the planned messages while workers die and clocks run ahead, and waits until nothing is left to do."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Self

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender

from local.stack import QueueStatistics, Stack

from .plan import Crash, Message, Plan
from .progress import Progress
from .topology import Topology

SEND_SECONDS = 20.0
"""One message takes a millisecond; the first of a queue opens a link, which takes a second."""

TRAP_SECONDS = 20.0
"""Within so long a commit has to come by, or the app does not commit."""

STANDSTILL_SECONDS = 30.0
"""When for so long nothing was settled while messages wait, nothing will be."""

POLL_SECONDS = 0.05
CLOCK_MARGIN_SECONDS = 1.0
"""Added when a clock is moved past a limit, so that it lies behind."""


class Standstill(Exception):
    """The run does not come to its end by itself."""


class Story:
    """One run. Made by `Story.beginning`."""

    def __init__(
        self, stack: Stack, topology: Topology, senders: dict[str, ServiceBusSender], progress: Progress
    ) -> None:
        self._stack = stack
        self._topology = topology
        self._senders = senders
        self._progress = progress

    @classmethod
    @asynccontextmanager
    async def beginning(cls, stack: Stack, topology: Topology, progress: Progress) -> AsyncIterator[Self]:
        """Open what is needed to send."""
        async with ServiceBusClient.from_connection_string(stack.service_bus.connection_string) as client:
            senders = {queue: client.get_queue_sender(queue) for queue in topology.queues}
            yield cls(stack, topology, senders, progress)

    async def tell(self, plan: Plan) -> None:
        """Send everything; return when the queues are empty. Raises Standstill, ControlFailed, ServiceBusError."""
        async with self._progress.showing(self._state):
            for wave in plan.waves:
                await self._send(wave.messages, wave.crash)
                if wave.crash is not None:
                    await self._until_idle(orphans=True)
                    await self._expire_locks()
            await self._until_idle()
            await self._let_pass(self._topology.window_seconds)
            self._progress.say(
                f"The detection window of {self._topology.window_seconds:.0f} s has passed: the broker forgets all ids."
            )
            await self._send(plan.late, None)
            await self._until_idle()

    async def _send(self, messages: Sequence[Message], crash: Crash | None) -> None:
        for position, message in enumerate(messages):
            if crash is not None and position == crash.at:
                await self._crash_on(message, crash)
            else:
                await self._send_one(message)

    async def _send_one(self, message: Message) -> None:
        sent = ServiceBusMessage(message.body, message_id=message.message_id, content_type="application/json")
        async with asyncio.timeout(SEND_SECONDS):
            await self._senders[message.queue].send_messages(sent)

    async def _crash_on(self, message: Message, crash: Crash) -> None:
        """Send a message and kill the worker while a commit, this one or another, is in the database's hands."""
        lost = crash.moment == "before"  # the commit dies with the worker; otherwise only its answer does
        await self._stack.cosmos.fault(operation="Batch", when=crash.moment, hold=True, drop=lost)
        await self._send_one(message)
        await self._until_held()
        killed = await self._stack.host.kill_worker()
        await self._stack.cosmos.release()
        self._progress.say(
            f"Worker {killed.worker_pid} killed {crash.moment} a commit was carried out, {killed.in_flight} in hand."
        )
        await self._stack.host.wait_running(after=killed)

    async def _expire_locks(self) -> None:
        """What the dead worker had in hand comes again at once, not after a minute."""
        orphans = sum(queue.locked for queue in await self._queues())
        self._progress.say(f"The locks of {orphans} messages that nobody works on expire.")
        await self._let_pass(self._topology.lock_seconds)

    async def _until_held(self) -> None:
        try:
            async with asyncio.timeout(TRAP_SECONDS):
                while True:
                    if await self._stack.cosmos.holds():
                        return
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            raise Standstill(f"the app has committed nothing within {TRAP_SECONDS:.0f} s") from error

    async def _let_pass(self, seconds: float) -> None:
        await self._stack.service_bus.advance_clock(seconds + CLOCK_MARGIN_SECONDS)

    async def _until_idle(self, *, orphans: bool = False) -> None:
        """Until nothing waits and nobody works; with `orphans` messages that a dead worker left locked may remain.

        Moving a clock earlier would expire the locks of messages at work, too.
        """
        clock = asyncio.get_running_loop().time
        before, moved_at = None, clock()
        while True:
            now, status = await self._queues(), await self._stack.host.status()
            if now != before:
                before, moved_at = now, clock()
            elif not status.in_flight and not any(q.waiting - q.locked if orphans else q.waiting for q in now):
                return
            elif clock() - moved_at > STANDSTILL_SECONDS:
                raise Standstill(f"for {STANDSTILL_SECONDS:.0f} s nothing moved: {await self._state()}")
            await asyncio.sleep(POLL_SECONDS)

    async def _queues(self) -> list[QueueStatistics]:
        return list((await self._stack.service_bus.statistics()).values())

    async def _state(self) -> str:
        queues = await self._queues()
        return (
            f"{sum(queue.sent for queue in queues):>6} sent"
            f"{sum(queue.dropped_as_duplicate for queue in queues):>6} dropped"
            f"{sum(queue.deliveries for queue in queues):>6} delivered"
            f"{sum(queue.completed for queue in queues):>6} completed"
            f"{sum(queue.dead_lettered for queue in queues):>6} dead-lettered"
            f"{sum(queue.waiting for queue in queues):>6} waiting"
        )
