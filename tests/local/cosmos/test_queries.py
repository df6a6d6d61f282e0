"""Queries through the SDK: within a partition, across ranges, in pages; and what is refused."""

from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient

from local.cosmos import Cosmos

from .outcomes import OK, ORDER, Refused, document, outcome

COUNT = 60
SEVERAL_RANGES = 30_000  # RU/s that make the service cut a container into five ranges


@pytest.fixture
async def wide(client: CosmosClient) -> ContainerProxy:
    """Sixty items, each in a partition of its own, over five ranges."""
    database = client.get_database_client("retail")
    container = await database.create_container("wide", PartitionKey("/orderId"), offer_throughput=SEVERAL_RANGES)
    for n in range(COUNT):
        await container.create_item(document(f"{n:02}", f"order-{n}", n=n, parity="odd" if n % 2 else "even"))
    return container


async def results(container: ContainerProxy, query: str, **options: Any) -> list[Any]:
    return [item async for item in container.query_items(query, **options)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT VALUE COUNT(1) FROM c", [60]),
        ("SELECT VALUE SUM(c.n) FROM c WHERE c.n < 10", [45]),
        ("SELECT VALUE MAX(c.n) FROM c", [59]),
        ("SELECT VALUE MIN(c.n) FROM c WHERE c.parity = 'odd'", [1]),
        ("SELECT VALUE AVG(c.n) FROM c", [29.5]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 2 LIMIT 3", [57, 56, 55]),
        ("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.n", ["00", "01"]),
        ("SELECT c.n AS number FROM c WHERE c.n BETWEEN 3 AND 4 ORDER BY c.n", [{"number": 3}, {"number": 4}]),
        ("SELECT DISTINCT VALUE c.parity FROM c ORDER BY c.parity", ["even", "odd"]),
    ],
)
async def test_cross_partition_queries_are_merged_by_the_client(
    cosmos: Cosmos, wide: ContainerProxy, query: str, expected: list[Any]
) -> None:
    """The gateway declines, the SDK fetches the plan, asks every range and merges: as with the service."""
    assert await results(wide, query) == expected
    operations = [entry.operation for entry in cosmos.requests.entries("wide")]
    assert "QueryPlan" in operations
    assert operations.count("Query") >= 1 + 5


@pytest.mark.parametrize("size", [1, 7, 60, 1000])
async def test_pages_hold_every_item_once(wide: ContainerProxy, size: int) -> None:
    """Whatever the page size, all pages together are all items."""
    pages = wide.query_items("SELECT VALUE c.id FROM c WHERE c.n >= 0", max_item_count=size).by_page()
    sizes, found = [], []
    async for page in pages:
        items = [item async for item in page]
        sizes.append(len(items))
        found.extend(items)
    assert sorted(found) == [f"{n:02}" for n in range(COUNT)]
    assert max(sizes) <= size


async def test_a_continuation_token_resumes(orders: ContainerProxy) -> None:
    """A token given to a new query goes on where the first stopped, even though items were written meanwhile."""
    for n in range(5):
        await orders.create_item(document(f"{n}"))
    query: dict[str, Any] = {"query": "SELECT VALUE c.id FROM c", "partition_key": ORDER, "max_item_count": 2}
    pages = orders.query_items(**query).by_page()
    first = [item async for item in await anext(pages)]
    await orders.delete_item("0", ORDER)
    rest = orders.query_items(**query).by_page(pages.continuation_token)
    found = [item async for page in rest async for item in page]
    assert first + found == ["0", "1", "2", "3", "4"]


async def test_a_filter_on_the_partition_key_reads_one_partition(cosmos: Cosmos, wide: ContainerProxy) -> None:
    """A query whose filter names the partition key needs no other range."""
    query = "SELECT VALUE c.n FROM c WHERE c.orderId = @order"
    parameters: list[dict[str, object]] = [{"name": "@order", "value": "order-7"}]
    assert await results(wide, query, parameters=parameters) == [7]
    assert len(cosmos.requests.entries("wide", "Query")) == 1


async def test_read_all_items(wide: ContainerProxy) -> None:
    """The feed of a container has every item of every range."""
    assert len([item async for item in wide.read_all_items()]) == COUNT


async def test_group_by_within_a_partition(orders: ContainerProxy) -> None:
    """Groups with several aggregates, as the service gives them for one partition."""
    for n in range(5):
        await orders.create_item(document(f"{n}", kind="line" if n else "order", n=n))
    query = "SELECT c.kind, COUNT(1) AS count, SUM(c.n) AS sum FROM c GROUP BY c.kind"
    groups = await results(orders, query, partition_key=ORDER)
    assert sorted(groups, key=lambda group: group["kind"]) == [
        {"kind": "line", "count": 4, "sum": 10},
        {"kind": "order", "count": 1, "sum": 0},
    ]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("SELECT * FROM", 400),
        ("SELECT * FROM c WHERE c.id = @missing", 400),
        ("SELECT x.id FROM c", 400),
        ("SELECT * FROM c ORDER BY c.a, c.b", 400),
        ("SELECT * FROM c ORDER BY LOWER(c.a)", 400),
        ("SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags)", 501),
        ("SELECT udf.f(c.id) FROM c", 501),
        ("SELECT VALUE ST_DISTANCE(c.a, c.b) FROM c", 501),
    ],
)
async def test_queries_that_are_refused(orders: ContainerProxy, query: str, status: int) -> None:
    """400 for what the service refuses too, 501 for what only the stand-in cannot do; never a made-up result."""
    assert await outcome(results(orders, query, partition_key=ORDER)) == Refused(status)


async def test_group_by_across_partitions_is_refused(wide: ContainerProxy) -> None:
    """The SDK cannot merge groups, and the gateway says so instead of giving groups of single ranges."""
    assert await outcome(results(wide, "SELECT c.parity FROM c GROUP BY c.parity")) == Refused(400)


async def test_ordering_needs_the_index(client: CosmosClient) -> None:
    """What is excluded from the index can be filtered on but not ordered by; two keys need a composite index."""
    policy = {
        "includedPaths": [{"path": "/status/?"}],
        "excludedPaths": [{"path": "/*"}],
        "compositeIndexes": [[{"path": "/status"}, {"path": "/total", "order": "descending"}]],
    }
    database = client.get_database_client("retail")
    container = await database.create_container("narrow", PartitionKey("/orderId"), indexing_policy=policy)
    await container.create_item(document("a", status="open", total=3))

    async def ask(tail: str) -> object:
        return await outcome(results(container, " ".join(["SELECT * FROM c", tail]), partition_key=ORDER))

    assert await ask("WHERE c.total = 3") == OK
    assert await ask("ORDER BY c.status") == OK
    assert await ask("ORDER BY c.total") == Refused(400)
    assert await ask("ORDER BY c.status DESC, c.total ASC") == OK
    assert await ask("ORDER BY c.status ASC, c.total ASC") == Refused(400)
