"""The database's part of the stack: how it is started, and a typed client of its control endpoints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack

from .channel import Channel
from .launcher import Launcher, module

ANNOUNCEMENT = r"cosmos ready http://\S+?:(\d+)"

EMULATOR_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
"""The key that every Azure Cosmos DB emulator has; Microsoft publishes it."""


class Fault(TypedDict, total=False):
    """What goes wrong with requests of a kind, how, and how often."""

    operation: str
    """Which requests: Batch, Read, Query, Create, …"""
    container: str
    """Only in this container."""
    partition_key: str
    """Only in this partition."""
    times: int
    """For so many requests; then the fault is over."""
    when: Literal["before", "after"]
    """Before or after the request is carried out."""
    status: int
    """Answer this HTTP status."""
    substatus: int
    """With this x-ms-substatus."""
    operation_index: int
    """The status is that of this operation of a batch, inside a 207."""
    retry_after_ms: int
    """With this x-ms-retry-after-ms."""
    delay_ms: int
    """Wait so long."""
    drop: bool
    """Cut the connection instead of answering."""
    hold: bool
    """Keep the request until `release`."""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request as the database saw it."""

    n: int
    """Its place in the order of arrival."""
    operation: str
    """Batch, Read, Query, Create, …"""
    container: str
    """The container it was for."""
    partition_key: tuple[str, ...]
    """The partition it was for; empty when it was for all."""
    status: int | None
    """The HTTP status it was answered with, None when the connection was cut before anything was decided."""

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        partition = tuple(str(value) for value in record["partition_key"] or ())
        return cls(record["n"], record["operation"], record["container"], partition, record["status"])


@dataclass(frozen=True, slots=True)
class Cosmos:
    """The running database."""

    endpoint: str
    """For the real SDK, with EMULATOR_KEY."""
    connection_string: str
    """The same with the key, as an app setting carries it."""
    channel: Channel
    """Its control endpoint."""

    async def advance_clock(self, seconds: float) -> None:
        """Let times to live run ahead by so many seconds."""
        await self.channel.call("POST", "/_local/clock", {"advance": seconds})

    async def fault(self, **fault: Unpack[Fault]) -> None:
        """Add a fault."""
        await self.channel.call("POST", "/_local/faults", fault)

    async def clear_faults(self) -> None:
        """Remove every fault."""
        await self.channel.call("DELETE", "/_local/faults")

    async def requests(self, container: str) -> list[RequestRecord]:
        """What was asked of one container, in order."""
        answer = await self.channel.call("GET", "/_local/requests", query={"container": container})
        return [RequestRecord.from_json(record) for record in answer["requests"]]

    async def holds(self) -> list[dict[str, Any]]:
        """The requests held now."""
        answer = await self.channel.call("GET", "/_local/holds")
        return list(answer["holds"])

    async def release(self, n: int | None = None) -> None:
        """Let one held request go on, or all."""
        await self.channel.call("POST", "/_local/holds/release", {} if n is None else {"n": n})


async def start_cosmos(launcher: Launcher, port: int, topology: Path) -> Cosmos:
    """Start the database with the containers of the topology. Raises PartFailed, ControlFailed."""
    command = module("local.cosmos", "--port", str(port), "--topology", str(topology))
    (real_port,) = await launcher.launch("cosmos", command, ANNOUNCEMENT, (port,))
    channel = launcher.channel("cosmos", real_port)
    await channel.call("GET", "/_local/ready")
    return Cosmos(channel.base, f"AccountEndpoint={channel.base}/;AccountKey={EMULATOR_KEY};", channel)
