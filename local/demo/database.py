"""Reads all documents of some containers, with the real SDK: the app is not asked."""

from collections.abc import Iterable

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import CosmosClient

from local.stack import EMULATOR_KEY, Stack

from .documents import Document
from .topology import Topology


async def read_documents(stack: Stack, topology: Topology, containers: Iterable[str]) -> list[Document]:
    """Everything that is in these containers. Raises what the SDK raises."""
    # The developer's proxy settings are not for an address on this machine.
    transport = AioHttpTransport(use_env_settings=False)
    async with CosmosClient(stack.cosmos.endpoint, EMULATOR_KEY, transport=transport) as client:
        database = client.get_database_client(topology.database)
        return [
            Document(container, str(content.get(topology.partition_fields[container])), content)
            for container in containers
            async for content in database.get_container_client(container).query_items("SELECT * FROM c")
        ]
