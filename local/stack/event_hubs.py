"""The event stream's part of the stack: how it is started, and a typed client of its control endpoints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .brokers import emulator_connection_string
from .channel import Channel
from .launcher import Launcher, module

ANNOUNCEMENT = r"event-hubs ready amqp=\S+?:(\d+) control=\S+?:(\d+)"


@dataclass(frozen=True, slots=True)
class PartitionStatistics:
    """One partition as the broker counts it."""

    id: str
    """The partition's name."""
    events: int
    """Events that can be read now."""
    last_sequence_number: int
    """Of the newest event; -1 when there never was one."""
    delivered: int
    """Events handed to receivers, repeats counted."""
    first_delivered: int
    """Events handed to receivers, each counted once in a consumer group."""

    @classmethod
    def from_json(cls, counts: dict[str, Any]) -> Self:
        names = ("events", "last_sequence_number", "delivered", "first_delivered")
        return cls(str(counts["id"]), *(int(counts[name]) for name in names))


@dataclass(frozen=True, slots=True)
class HubStatistics:
    """One event hub as the broker counts it."""

    sent: int
    """Events that senders gave."""
    partitions: tuple[PartitionStatistics, ...]
    """In the order of their names."""

    @classmethod
    def from_json(cls, counts: dict[str, Any]) -> Self:
        return cls(int(counts["sent"]), tuple(PartitionStatistics.from_json(each) for each in counts["partitions"]))

    @property
    def delivered(self) -> int:
        """Events handed to receivers, repeats counted."""
        return sum(partition.delivered for partition in self.partitions)


@dataclass(frozen=True, slots=True)
class EventHubs:
    """The running event broker."""

    connection_string: str
    """For the real SDK."""
    channel: Channel
    """Its control endpoint."""

    async def advance_clock(self, seconds: float) -> None:
        """Let retention run ahead by so many seconds."""
        await self.channel.call("POST", "/clock", {"advance": seconds})

    async def statistics(self) -> dict[str, HubStatistics]:
        """The broker's counters by event hub."""
        answer = await self.channel.call("GET", "/statistics")
        return {name: HubStatistics.from_json(counts) for name, counts in answer["hubs"].items()}

    async def drop_connections(self) -> int:
        """Cut every AMQP connection; answer how many there were."""
        answer = await self.channel.call("POST", "/connections/drop")
        return int(answer["dropped"])


async def start_event_hubs(launcher: Launcher, port: int, control_port: int, topology: Path) -> EventHubs:
    """Start the broker with the event hubs of the topology. Raises PartFailed, ControlFailed."""
    listening = ("--port", str(port), "--control-port", str(control_port))
    command = module("local.event_hubs", *listening, "--topology", str(topology))
    amqp, control = await launcher.launch("event-hubs", command, ANNOUNCEMENT, (port, control_port))
    channel = launcher.channel("event-hubs", control)
    await channel.call("GET", "/ready")
    return EventHubs(emulator_connection_string(amqp), channel)
