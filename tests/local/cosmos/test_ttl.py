"""Time to live, by a clock that is advanced."""

import pytest
from azure.core import MatchConditions
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient

from local.cosmos import Cosmos

from .outcomes import OK, ORDER, BatchRefused, Refused, create, document, ids, outcome


async def container_with(client: CosmosClient, default_ttl: int | None) -> ContainerProxy:
    database = client.get_database_client("retail")
    return await database.create_container("aging", PartitionKey("/orderId"), default_ttl=default_ttl)


async def test_an_expired_item_is_absent_everywhere(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """Read, replace, delete, query and change feed do not know it any more."""
    await orders.create_item(document("a", ttl=60))
    cosmos.clock.advance(59)
    assert await ids(orders) == ["a"]
    cosmos.clock.advance(1)
    assert await outcome(orders.read_item("a", ORDER)) == Refused(404)
    assert await outcome(orders.replace_item("a", document("a"))) == Refused(404)
    assert await outcome(orders.delete_item("a", ORDER)) == Refused(404)
    assert await ids(orders) == []
    assert [item async for item in orders.query_items_change_feed(start_time="Beginning")] == []


async def test_an_expired_item_does_not_stand_in_the_way_of_a_create(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """The same id can be created again, singly and in a batch, although nothing was purged yet."""
    await orders.create_item(document("a", ttl=60))
    await orders.create_item(document("b", ttl=60))
    assert await outcome(orders.execute_item_batch([create("c"), create("b")], ORDER)) == BatchRefused(1, (424, 409))
    cosmos.clock.advance(60)
    assert await outcome(orders.create_item(document("a"))) == OK
    assert await outcome(orders.execute_item_batch([create("c"), create("b")], ORDER)) == OK
    assert await ids(orders) == ["a", "b", "c"]


async def test_an_expired_items_etag_means_nothing(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """An upsert guarded by the etag of an expired item makes a new one."""
    etag = (await orders.create_item(document("a", ttl=60)))["_etag"]
    await orders.upsert_item(document("a", ttl=60))
    cosmos.clock.advance(60)
    guarded = orders.upsert_item(document("a"), etag=etag, match_condition=MatchConditions.IfNotModified)
    assert await outcome(guarded) == OK


async def test_every_write_begins_the_ttl_anew(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """TTL counts from the last write."""
    await orders.create_item(document("a", ttl=60))
    cosmos.clock.advance(40)
    await orders.patch_item("a", ORDER, [{"op": "set", "path": "/n", "value": 1}])
    cosmos.clock.advance(40)
    assert await ids(orders) == ["a"]
    cosmos.clock.advance(20)
    assert await ids(orders) == []


@pytest.mark.parametrize(
    ("default_ttl", "alive_after_30", "alive_after_90"),
    [
        (None, ["for ever", "plain", "short"], ["for ever", "plain", "short"]),
        (-1, ["for ever", "plain"], ["for ever", "plain"]),
        (60, ["for ever", "plain"], ["for ever"]),
    ],
)
async def test_the_containers_default(
    cosmos: Cosmos,
    client: CosmosClient,
    default_ttl: int | None,
    alive_after_30: list[str],
    alive_after_90: list[str],
) -> None:
    """Absent: item TTLs are inert. -1: on without a default. n: for items without a TTL of their own."""
    container = await container_with(client, default_ttl)
    await container.create_item(document("short", ttl=20))
    await container.create_item(document("for ever", ttl=-1))
    await container.create_item(document("plain"))
    cosmos.clock.advance(30)
    assert await ids(container) == alive_after_30
    cosmos.clock.advance(60)
    assert await ids(container) == alive_after_90


async def test_switching_ttl_on_wakes_the_ttls_of_items(cosmos: Cosmos, client: CosmosClient) -> None:
    """A container whose TTL is switched on later judges the items that are already there."""
    container = await container_with(client, None)
    await container.create_item(document("a", ttl=20))
    cosmos.clock.advance(30)
    assert await ids(container) == ["a"]
    database = client.get_database_client("retail")
    await database.replace_container(container, PartitionKey("/orderId"), default_ttl=-1)
    assert await ids(container) == []


@pytest.mark.parametrize("ttl", [0, -2, None, "60", 1.5, True, 2**31])
async def test_ttls_that_the_service_refuses(orders: ContainerProxy, ttl: object) -> None:
    """An item's TTL is -1 or a positive 32-bit number of seconds."""
    assert await outcome(orders.create_item(document("a", ttl=ttl))) == Refused(400)
    assert await ids(orders) == []


@pytest.mark.parametrize("ttl", [0, -2])
async def test_container_defaults_that_the_service_refuses(client: CosmosClient, ttl: int) -> None:
    """So is a container's default."""
    assert await outcome(container_with(client, ttl)) == Refused(400)


async def test_expired_items_are_purged_later(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """Rows go some time after they expired, and live ones stay."""
    await orders.create_item(document("a", ttl=60))
    await orders.create_item(document("b", ttl=600))
    cosmos.clock.advance(61)
    assert cosmos.store.purge() == 0
    cosmos.clock.advance(60)
    assert cosmos.store.purge() == 1
    assert await ids(orders) == ["b"]
