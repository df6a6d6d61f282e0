"""A broker for the whole run; a host with queues of its own for each module that needs one."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender

from local.host.host import FunctionsHost
from local.stack.azurite import PROGRAM, start_azurite
from local.stack.event_hubs import start_event_hubs
from local.stack.launcher import Launcher

from .event_hubs_stage import EventStage, Hubs, staged_events, topology
from .waiting import eventually

APP = Path(__file__).parent / "app"
REPOSITORY = Path(__file__).parents[3]
# Three for each stage.
QUEUES = 12
LOCK = timedelta(seconds=60)


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

    async def statistics(self) -> dict[str, dict[str, int]]:
        answer = await self._call("GET", "/statistics")
        queues: dict[str, dict[str, int]] = answer["queues"]
        return queues


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
    """A running host with the sample app, its queues, and what happened since the test began."""

    broker: Broker
    host: FunctionsHost
    client: ServiceBusClient
    queues: dict[str, str]
    seen_file: Path
    _senders: dict[str, ServiceBusSender] = field(default_factory=dict)
    _seen_before: int = 0
    _counted_before: dict[str, dict[str, int]] = field(default_factory=dict)

    async def begin(self) -> None:
        """Counts from here on: tests of one module share a stage, because opening AMQP links takes most of the time."""
        self._seen_before = len(self._lines())
        statistics = await self.broker.statistics()
        self._counted_before = {name: statistics[queue] for name, queue in self.queues.items()}

    async def send(self, queue: str, body: str | bytes = b"{}", do: str | None = None, **more: Any) -> None:
        properties = {"do": do} if do else {}
        message = ServiceBusMessage(body, application_properties=properties | more.pop("properties", {}), **more)
        if queue not in self._senders:
            self._senders[queue] = self.client.get_queue_sender(self.queues[queue])
        await self._senders[queue].send_messages(message)

    def _lines(self) -> list[str]:
        return self.seen_file.read_text().splitlines() if self.seen_file.exists() else []

    def seen(self) -> list[dict[str, Any]]:
        """What the app wrote down since the test began."""
        return [json.loads(line) for line in self._lines()[self._seen_before :]]

    async def sees(self, number: int) -> list[dict[str, Any]]:
        """Waits until the app has written down that much."""
        await eventually(lambda: len(self.seen()) >= number)
        return self.seen()

    async def count(self, queue: str, what: str) -> int:
        """By how much the broker's count has changed since the test began."""
        statistics = await self.broker.statistics()
        return statistics[self.queues[queue]][what] - self._counted_before[queue][what]

    async def counts(self, queue: str, number: int, what: str) -> None:
        """Waits until the broker has counted that many since the test began."""

        async def reached() -> bool:
            return await self.count(queue, what) >= number

        await eventually(reached)

    async def align_clocks(self) -> None:
        """Brings the host's clock to the broker's, which other tests have moved."""
        ahead = await self.broker.advance(timedelta()) - self.host.now()
        self.host.advance_clock(max(ahead, timedelta()))

    async def idle(self) -> None:
        """Waits until no invocation runs."""
        await eventually(lambda: self.host.in_flight == 0)

    async def release(self) -> None:
        """Lets every function go on that holds its message right now."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.host.url}/api/release") as answer:
            assert answer.status == 200

    async def release_all(self) -> None:
        """Lets every function go on that holds its message, until none is left."""

        async def released() -> bool:
            await self.release()
            return self.host.in_flight == 0

        await eventually(released)

    async def dead_letters(self, queue: str) -> list[ServiceBusReceivedMessage]:
        async with self.client.get_queue_receiver(self.queues[queue], sub_queue="deadletter") as receiver:
            return await receiver.receive_messages(max_message_count=1, max_wait_time=5)


@asynccontextmanager
async def staged(broker: Broker, folder: Path) -> AsyncIterator[Stage]:
    """A stage of its own, with queues nobody else uses."""
    queues = {name: broker.fresh_queue() for name in ("work", "auto", "binary")}
    seen = folder / "seen.jsonl"
    settings = {f"{name.upper()}_QUEUE": queue for name, queue in queues.items()}
    settings |= {"Broker": broker.connection, "SEEN": str(seen)}
    async with (
        FunctionsHost.running(APP, settings) as host,
        ServiceBusClient.from_connection_string(broker.connection) as client,
    ):
        stage = Stage(broker, host, client, queues, seen)
        await stage.begin()
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(broker, tmp_path_factory.mktemp("stage")) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def stage(shared_stage: Stage) -> AsyncIterator[Stage]:
    """The module's stage, counting from now on; afterwards nothing runs, so that a failure stays one failure."""
    await shared_stage.begin()
    yield shared_stage
    await shared_stage.release_all()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def hubs(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hubs]:
    """An event broker and a storage account for the whole run."""
    if not PROGRAM.exists() and not os.environ.get("CI"):
        pytest.skip("azurite is not installed: sh local/prepare.sh azurite local/azurite/node_modules/.ready")
    folder = tmp_path_factory.mktemp("hubs")
    (folder / "topology.json").write_text(json.dumps(topology()))
    async with AsyncExitStack() as exits, aiohttp.ClientSession() as session:
        launcher = Launcher(exits, session, folder)
        azurite, broker = await asyncio.gather(
            start_azurite(launcher, (0, 0, 0)), start_event_hubs(launcher, 0, 0, folder / "topology.json")
        )
        yield Hubs(broker.connection_string, broker.channel.base, azurite.connection_string)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_events(hubs: Hubs, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EventStage]:
    async with staged_events(hubs, tmp_path_factory.mktemp("events"), whole_app=True) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def events(shared_events: EventStage) -> AsyncIterator[EventStage]:
    """The module's stage with Event Hubs; what it has seen counts from now on."""
    shared_events.begin()
    yield shared_events
    await shared_events.release_all()


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
