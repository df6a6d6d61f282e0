"""The stores under contract, over one stand-in for Cosmos DB that serves the whole package."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from azure.cosmos.aio import ContainerProxy, CosmosClient

from local.cosmos import Cosmos, Entry
from shared.idempotency import Event, Store, SystemClock
from shared.stores.cosmos import CosmosStore
from shared.stores.cosmos_account import Account, open_client, open_container
from shared.stores.memory import MemoryStore

TOPOLOGY = Path(__file__).parents[2] / "shared" / "topology.json"


class ShiftedClock(SystemClock):
    """The machine's time, plus what tests have advanced it by: the stand-in's clock does the same."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.ahead)


@dataclass
class Database:
    """The stand-in with a client of ours inside."""

    server: Cosmos
    client: CosmosClient
    container: ContainerProxy
    clock: ShiftedClock = field(default_factory=ShiftedClock)

    def advance(self, seconds: float) -> None:
        """Move the clocks of the database and of the stores forward together."""
        self.server.clock.advance(seconds)
        self.clock.ahead += seconds

    def requests(self, partition: str, operation: str | None = None) -> list[Entry]:
        """What the database was asked about one partition; a straggler of another test is in another."""
        return [
            entry for entry in self.server.requests.entries(operation=operation) if entry.partition_key == [partition]
        ]

    def store(self, **changes: Any) -> CosmosStore:
        parts = {"container": self.container, "partition_property": "orderId", "clock": self.clock}
        return CosmosStore(**(parts | changes))


@dataclass
class Subject:
    """One store under contract, with a partition that no other test uses."""

    store: Store
    events: list[Event]
    advance: Callable[[float], None]
    charges: bool
    """Whether the store has a price."""
    partition: str = field(default_factory=lambda: uuid4().hex)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def database() -> AsyncIterator[Database]:
    async with (
        Cosmos.serving(topology=TOPOLOGY) as server,
        open_client(Account.from_connection_string(server.connection_string)) as client,
    ):
        container = await open_container(client, "retail", "orders", partition_key_path="/orderId")
        yield Database(server, client, container)


@pytest.fixture
def memory(database: Database) -> Subject:
    events: list[Event] = []
    store = MemoryStore("orderId", clock=database.clock, hook=events.append, container="orders")
    return Subject(store, events, database.advance, charges=False)


@pytest.fixture
def cosmos(database: Database) -> Subject:
    events: list[Event] = []
    return Subject(database.store(hook=events.append), events, database.advance, charges=True)


@pytest.fixture(params=["memory", "cosmos"])
def subject(request: pytest.FixtureRequest, memory: Subject, cosmos: Subject) -> Subject:
    return memory if request.param == "memory" else cosmos


@pytest.fixture(autouse=True)
def no_fault_left(database: Database) -> None:
    """A test that does not meet the fault it set must not hand it to the next."""
    database.server.faults.clear()
