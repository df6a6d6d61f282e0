"""What survives when the process is killed at any moment."""

import asyncio
import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import ContainerProxy, CosmosClient

from local.cosmos import EMULATOR_KEY

from .conftest import TOPOLOGY
from .outcomes import create
from .processes import started

WORKERS = 16
PARTITIONS = 5
BATCHES_BEFORE_KILL = 150  # acknowledged batches after which each kill comes, in the middle of the load
PARTS = ("first", "second", "marker")


@dataclass(slots=True)
class Load:
    """Sixteen writers and what they were told."""

    numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    acknowledged: set[int] = field(default_factory=set)
    enough: asyncio.Event = field(default_factory=asyncio.Event)  # the next kill may come

    async def write(self, orders: ContainerProxy) -> None:
        for number in self.numbers:
            order = f"{number % PARTITIONS}"
            await orders.execute_item_batch([create(f"{number}:{part}", order) for part in PARTS], order)
            self.acknowledged.add(number)
            if len(self.acknowledged) % BATCHES_BEFORE_KILL == 0:
                self.enough.set()


async def test_sigkill_under_load_leaves_whole_batches(tmp_path: Path) -> None:
    """Two kills under sixteen writers: every batch is there in full or not at all, and none acknowledged is missing."""
    database = ("--port", "0", "--db", str(tmp_path / "cosmos.db"), "--topology", str(TOPOLOGY))
    load = Load()
    for _ in range(2):
        load.enough.clear()
        async with started(*database) as (process, endpoint), client_of(endpoint) as client:
            orders = client.get_database_client("retail").get_container_client("orders")
            writers = [asyncio.create_task(load.write(orders)) for _ in range(WORKERS)]
            await load.enough.wait()
            process.kill()
            await process.wait()
            for writer in writers:
                writer.cancel()
            await asyncio.gather(*writers, return_exceptions=True)

    found: defaultdict[int, set[str]] = defaultdict(set)
    async with started(*database) as (_, endpoint), client_of(endpoint) as client:
        orders = client.get_database_client("retail").get_container_client("orders")
        async for id_ in orders.query_items("SELECT VALUE c.id FROM c"):
            number, _, part = id_.partition(":")
            found[int(number)].add(part)

    partial = {number: parts for number, parts in found.items() if parts != set(PARTS)}
    assert partial == {}
    assert load.acknowledged - found.keys() == set()
    assert len(load.acknowledged) >= 2 * BATCHES_BEFORE_KILL


def client_of(endpoint: str) -> CosmosClient:
    return CosmosClient(endpoint, EMULATOR_KEY, transport=AioHttpTransport(use_env_settings=False))


async def test_definitions_and_logs_survive_a_restart(tmp_path: Path) -> None:
    """Containers keep their ids, items their etags, and the log goes on where it stood."""
    database = ("--port", "0", "--db", str(tmp_path / "cosmos.db"), "--topology", str(TOPOLOGY))
    async with started(*database) as (_, endpoint), client_of(endpoint) as client:
        orders = client.get_database_client("retail").get_container_client("orders")
        rid = (await orders.read())["_rid"]
        item = await orders.create_item({"id": "a", "orderId": "1"})
        token = item.get_response_headers()["x-ms-session-token"]
    async with started(*database) as (_, endpoint), client_of(endpoint) as client:
        orders = client.get_database_client("retail").get_container_client("orders")
        assert (await orders.read())["_rid"] == rid
        assert (await orders.read_item("a", "1", session_token=token))["_etag"] == item["_etag"]
        again = await orders.upsert_item({"id": "a", "orderId": "1"})
        assert again.get_response_headers()["x-ms-session-token"] != token
