"""A running stand-in and the real SDK against it, over sockets."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import ContainerProxy, CosmosClient

from local.cosmos import Cosmos

TOPOLOGY = Path(__file__).parents[3] / "shared" / "topology.json"


@pytest.fixture
async def cosmos() -> AsyncIterator[Cosmos]:
    async with Cosmos.serving(topology=TOPOLOGY) as running:
        yield running


@pytest.fixture
async def client(cosmos: Cosmos) -> AsyncIterator[CosmosClient]:
    transport = AioHttpTransport(use_env_settings=False)  # spares a look-up of proxies for each request
    async with CosmosClient(cosmos.endpoint, cosmos.key, transport=transport) as connected:
        yield connected


@pytest.fixture
async def orders(client: CosmosClient) -> ContainerProxy:
    """The container `orders`, partitioned by /orderId, TTL on."""
    return client.get_database_client("retail").get_container_client("orders")
