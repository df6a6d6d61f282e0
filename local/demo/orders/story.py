"""Sends the planned messages while workers die and clocks run ahead, and waits until nothing is left to do."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender

from local.stack import QueueStatistics, Stack

from ..crash import kill_while_committing
from ..progress import Progress
from ..standstill import until
from ..topology import Topology
from .plan import Crash, Message, Plan

SEND_SECONDS = 20.0
"""One message takes a millisecond; the first of a queue opens a link, which takes a second."""

CLOCK_MARGIN_SECONDS = 1.0
"""Added when a clock is moved past a limit, so that it lies behind."""


async def tell(plan: Plan, stack: Stack, topology: Topology, progress: Progress) -> None:
    """Send everything; return when the queues are empty. Raises Standstill, ControlFailed, ServiceBusError."""
    async with ServiceBusClient.from_connection_string(stack.service_bus.connection_string) as client:
        senders = {queue: client.get_queue_sender(queue) for queue in topology.queues}
        await _Story(stack, topology, senders, progress).tell(plan)


@dataclass(frozen=True, slots=True)
class _Situation:
    """How things are at one moment. Who works on what is no progress, only what comes of it."""

    queues: Sequence[QueueStatistics]
    """As the broker counts."""
    in_flight: int = field(compare=False)
    """Messages at work in the host."""

    @property
    def is_idle(self) -> bool:
        """Nothing waits and nobody works."""
        return not self.in_flight and not any(queue.waiting for queue in self.queues)

    @property
    def is_orphaned(self) -> bool:
        """Nobody works, and nothing waits but what a dead worker left locked."""
        return not self.in_flight and not any(queue.waiting - queue.locked for queue in self.queues)

    def __str__(self) -> str:
        return (
            f"{sum(queue.sent for queue in self.queues):>6} sent"
            f"{sum(queue.dropped_as_duplicate for queue in self.queues):>6} dropped"
            f"{sum(queue.deliveries for queue in self.queues):>6} delivered"
            f"{sum(queue.completed for queue in self.queues):>6} completed"
            f"{sum(queue.dead_lettered for queue in self.queues):>6} dead-lettered"
            f"{sum(queue.waiting for queue in self.queues):>6} waiting"
        )


class _Story:
    """One run."""

    def __init__(
        self, stack: Stack, topology: Topology, senders: dict[str, ServiceBusSender], progress: Progress
    ) -> None:
        self._stack = stack
        self._topology = topology
        self._senders = senders
        self._progress = progress

    async def tell(self, plan: Plan) -> None:
        async with self._progress.showing(self._state):
            for wave in plan.waves:
                await self._send(wave.messages, wave.crash)
                if wave.crash is not None:
                    await self._expire_locks()
            await until(self._look, lambda now: now.is_idle)
            await self._let_pass(self._topology.window_seconds)
            self._progress.say(
                f"The detection window of {self._topology.window_seconds:.0f} s has passed: the broker forgets all ids."
            )
            await self._send(plan.late, None)
            await until(self._look, lambda now: now.is_idle)

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
        killed = await kill_while_committing(self._stack, crash.moment, lambda: self._send_one(message))
        self._progress.say(
            f"Worker {killed.worker_pid} killed {crash.moment} a commit was carried out, {killed.in_flight} in hand."
        )

    async def _expire_locks(self) -> None:
        """What the dead worker had in hand comes again at once, not after a minute.

        First everything else is done: moving the clock earlier would expire the locks of messages at work, too.
        """
        await until(self._look, lambda now: now.is_orphaned)
        orphans = sum(queue.locked for queue in (await self._look()).queues)
        self._progress.say(f"The locks of {orphans} messages that nobody works on expire.")
        await self._let_pass(self._topology.lock_seconds)

    async def _let_pass(self, seconds: float) -> None:
        await self._stack.service_bus.advance_clock(seconds + CLOCK_MARGIN_SECONDS)

    async def _look(self) -> _Situation:
        # The broker first: what it hands out in between is at work then.
        queues = tuple((await self._stack.service_bus.statistics()).values())
        return _Situation(queues, (await self._stack.host.status()).in_flight)

    async def _state(self) -> str:
        return str(await self._look())
