"""Session consistency: a client never reads from before what it has seen."""

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosBatchOperationError

from local.cosmos import Cosmos

from .outcomes import OK, ORDER, Refused, create, document, outcome

SEVERAL_RANGES = 30_000  # RU/s that make the service cut a container into five ranges


async def test_a_read_ahead_of_the_store_is_404_with_1002(orders: ContainerProxy) -> None:
    """A session token from the future is never answered from the past, be it an item, a query or a feed."""
    await orders.create_item(document("a"))
    ahead = {"session_token": "0:-1#1000"}
    assert await outcome(orders.read_item("a", ORDER, **ahead)) == Refused(404, 1002)

    async def query() -> None:
        _ = [item async for item in orders.query_items("SELECT * FROM c", partition_key=ORDER, **ahead)]

    assert await outcome(query()) == Refused(404, 1002)


async def test_a_conflict_carries_the_token_to_read_on_with(orders: ContainerProxy) -> None:
    """The error of a batch says where the store stands; a read with that token succeeds."""
    await orders.create_item(document("taken"))
    with pytest.raises(CosmosBatchOperationError) as conflict:
        await orders.execute_item_batch([create("taken")], ORDER)
    token = conflict.value.headers["x-ms-session-token"]
    assert await outcome(orders.read_item("taken", ORDER, session_token=token)) == OK


@pytest.mark.parametrize("token", ["nonsense", "0:1", "0:-1#x"])
async def test_malformed_tokens_are_refused(orders: ContainerProxy, token: str) -> None:
    """What is no session token is 400, not silently ignored."""
    await orders.create_item(document("a"))
    assert await outcome(orders.read_item("a", ORDER, session_token=token)) == Refused(400)


async def test_each_range_has_its_own_log(client: CosmosClient, cosmos: Cosmos) -> None:
    """Writes move the log of the range that holds their partition key, and no other."""
    database = client.get_database_client("retail")
    container = await database.create_container(
        "wide", PartitionKey("/orderId"), default_ttl=-1, offer_throughput=SEVERAL_RANGES
    )
    for n in range(20):
        await container.create_item(document("a", f"order-{n}"))
    stored = cosmos.store.catalog.owning_container("retail", "wide")
    writes = [cosmos.store.position(stored, one.id).lsn - 1 for one in stored.ranges]
    assert len(writes) == 5
    assert sum(writes) == 20
    assert max(writes) < 20
