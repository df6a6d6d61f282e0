"""A broker for the whole module run, fresh queues and a running host for each test."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusClient

from local.host.host import FunctionsHost

APP = Path(__file__).parent / "app"
REPOSITORY = Path(__file__).parents[3]
# Enough for three a test; unused queues cost the broker nothing.
QUEUES = 90
LOCK = timedelta(seconds=60)
PATIENCE = 20.0
POLL = 0.02


async def eventually[T](probe: Callable[[], Awaitable[T] | T], patience: float = PATIENCE) -> T:
    """Polls until the probe gives something true."""
    async with asyncio.timeout(patience):
        while True:
            value = probe()
            value = await value if isinstance(value, Awaitable) else value
            if value:
                return value
            await asyncio.sleep(POLL)


@dataclass
class Broker:
    """The running broker stand-in."""

    amqp_port: int
    control: str
    _names: Iterator[str] = field(default_factory=lambda: (f"q{number}" for number in count()))

    @property
    def connection(self) -> str:
        return (
            f"Endpoint=sb://localhost:{self.amqp_port};SharedAccessKeyName=RootManageSharedAccessKey;"
            "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
        )

    def fresh_queue(self) -> str:
        return next(self._names)

    async def _call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self.control + path, json=body) as answer,
        ):
            answer.raise_for_status()
            content: dict[str, Any] = await answer.json()
            return content

    async def advance(self, by: timedelta) -> datetime:
        answer = await self._call("POST", "/clock", {"advance": by.total_seconds()})
        return datetime.fromisoformat(answer["now"])

    async def drop_connections(self) -> None:
        await self._call("POST", "/connections/drop")

    async def count(self, queue: str, what: str) -> int:
        statistics = await self._call("GET", "/statistics")
        return int(statistics["queues"][queue][what])


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    queue = {
        "lockDuration": "PT1M",
        "maxDeliveryCount": 10,
        "defaultMessageTimeToLive": "P7D",
        "duplicateDetectionHistoryTimeWindow": "PT10M",
        "deadLetterResubmissionAllowance": "P14D",
    }
    topology = tmp_path_factory.mktemp("broker") / "topology.json"
    topology.write_text(
        json.dumps({"queues": {f"q{n}": queue for n in range(QUEUES)}, "database": "unused", "containers": {}})
    )
    command = ("-m", "local.service_bus", "--port", "0", "--control-port", "0", "--topology", str(topology))
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)  # noqa: S603
    try:
        assert process.stdout
        ready = dict(part.split("=") for part in process.stdout.readline().split() if "=" in part)
        yield Broker(int(ready["amqp"].rpartition(":")[2]), f"http://{ready['control']}")
    finally:
        process.kill()
        process.wait()


@dataclass
class Stage:
    """One test's host, queues and record of what the app saw."""

    broker: Broker
    host: FunctionsHost
    client: ServiceBusClient
    queues: dict[str, str]
    seen_file: Path

    async def send(self, queue: str, body: str | bytes = b"{}", do: str | None = None, **more: Any) -> None:
        properties = {"do": do} if do else {}
        message = ServiceBusMessage(body, application_properties=properties | more.pop("properties", {}), **more)
        async with self.client.get_queue_sender(self.queues[queue]) as sender:
            await sender.send_messages(message)

    def seen(self) -> list[dict[str, Any]]:
        lines = self.seen_file.read_text().splitlines() if self.seen_file.exists() else []
        return [json.loads(line) for line in lines]

    async def sees(self, number: int) -> list[dict[str, Any]]:
        await eventually(lambda: len(self.seen()) >= number)
        return self.seen()

    async def count(self, queue: str, what: str) -> int:
        return await self.broker.count(self.queues[queue], what)

    async def counts(self, queue: str, number: int, what: str) -> None:
        """Waits until the broker has counted that many."""

        async def reached() -> bool:
            return await self.count(queue, what) >= number

        await eventually(reached)

    async def align_clocks(self) -> None:
        """Brings the host's clock to the broker's, which earlier tests have moved."""
        ahead = await self.broker.advance(timedelta()) - datetime.now(UTC)
        self.host.advance_clock(max(ahead, timedelta()))

    async def advance_both(self, by: timedelta) -> None:
        """Lets time pass for host and broker, the host first: it renews in time what it has to renew."""
        self.host.advance_clock(by)
        await self.broker.advance(by)

    async def release(self) -> None:
        async with aiohttp.ClientSession() as session, session.get(f"{self.host.url}/api/release") as answer:
            assert answer.status == 200

    async def dead_letters(self, queue: str) -> list[ServiceBusReceivedMessage]:
        async with self.client.get_queue_receiver(self.queues[queue], sub_queue="deadletter") as receiver:
            return await receiver.receive_messages(max_message_count=10, max_wait_time=5)


type Staging = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture
def staging(broker: Broker, tmp_path: Path) -> Staging:
    """Makes a stage with the sample app."""

    @asynccontextmanager
    async def stage(app: Path = APP) -> AsyncIterator[Stage]:
        queues = {name: broker.fresh_queue() for name in ("work", "auto", "binary")}
        seen = tmp_path / "seen.jsonl"
        settings = {f"{name.upper()}_QUEUE": queue for name, queue in queues.items()}
        settings |= {"Broker": broker.connection, "SEEN": str(seen)}
        async with (
            FunctionsHost.running(app, settings) as host,
            ServiceBusClient.from_connection_string(broker.connection) as client,
        ):
            yield Stage(broker, host, client, queues, seen)

    return stage


@pytest.fixture
async def stage(staging: Staging) -> AsyncIterator[Stage]:
    """The sample app, running."""
    async with staging() as running:
        yield running


def is_alive(pid: int) -> bool:
    """True while the process exists and is no zombie (an orphan may wait for its reaper)."""
    state = subprocess.run(  # noqa: S603
        ["/bin/ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return bool(state.strip()) and not state.startswith("Z")


@pytest.fixture
def make_app(tmp_path: Path) -> Callable[[str], Path]:
    """Makes an app folder around the source of its function_app.py."""

    def make(source: str) -> Path:
        folder = tmp_path / "app"
        folder.mkdir()
        (folder / "host.json").write_text('{"version": "2.0"}')
        (folder / "function_app.py").write_text("import azure.functions as func\napp = func.FunctionApp()\n" + source)
        return folder

    return make
