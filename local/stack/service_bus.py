"""The broker's part of the stack: how it is started, and a typed client of its control endpoints."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from .brokers import emulator_connection_string
from .channel import Channel
from .launcher import Launcher, module

ANNOUNCEMENT = r"service-bus ready amqp=\S+?:(\d+) control=\S+?:(\d+)"


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    """One queue as the broker counts it."""

    sent: int
    """Messages that senders gave, those dropped as duplicates included."""
    dropped_as_duplicate: int
    """Messages dropped since their id was seen within the detection window."""
    deliveries: int
    """Times that a message was handed to a receiver."""
    completed: int
    """Deliveries settled as complete."""
    abandoned: int
    """Deliveries given back."""
    lock_expired: int
    """Deliveries whose lock ran out."""
    dead_lettered: int
    """Messages moved to the dead-letter queue so far."""
    active: int
    """Messages waiting for a receiver now."""
    locked: int
    """Messages in the hands of a receiver now."""
    scheduled: int
    """Messages not due yet."""
    deferred: int
    """Messages set aside by a receiver."""
    dead_letter: int
    """Messages in the dead-letter queue now."""

    @classmethod
    def from_json(cls, counts: dict[str, Any]) -> Self:
        return cls(**{each.name: int(counts[each.name]) for each in fields(cls)})

    @property
    def waiting(self) -> int:
        """Messages that still have to be processed."""
        return self.active + self.locked + self.scheduled


@dataclass(frozen=True, slots=True)
class ServiceBus:
    """The running broker."""

    connection_string: str
    """For the real SDK."""
    channel: Channel
    """Its control endpoint."""

    async def advance_clock(self, seconds: float) -> None:
        """Let locks, detection windows, schedules and times to live run ahead by so many seconds."""
        await self.channel.call("POST", "/clock", {"advance": seconds})

    async def statistics(self) -> dict[str, QueueStatistics]:
        """The broker's counters by queue name."""
        answer = await self.channel.call("GET", "/statistics")
        return {name: QueueStatistics.from_json(counts) for name, counts in answer["queues"].items()}

    async def drop_connections(self) -> int:
        """Cut every AMQP connection; answer how many there were."""
        answer = await self.channel.call("POST", "/connections/drop")
        return int(answer["dropped"])


async def start_service_bus(launcher: Launcher, port: int, control_port: int, topology: Path) -> ServiceBus:
    """Start the broker with the queues of the topology. Raises PartFailed, ControlFailed."""
    listening = ("--port", str(port), "--control-port", str(control_port))
    command = module("local.service_bus", *listening, "--topology", str(topology))
    amqp, control = await launcher.launch("service-bus", command, ANNOUNCEMENT, (port, control_port))
    channel = launcher.channel("service-bus", control)
    await channel.call("GET", "/ready")
    return ServiceBus(emulator_connection_string(amqp), channel)
