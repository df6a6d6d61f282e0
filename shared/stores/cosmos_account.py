"""The way to an account and its containers: who we are, how patient the SDK is, and whether a container is fit."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from azure.core.exceptions import AzureError
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.documents import DatabaseAccount
from azure.identity.aio import DefaultAzureCredential, ManagedIdentityCredential

from .cosmos_errors import read_failure, status_of

_CONNECT_SECONDS = 3
"""Inside one Azure region a connection takes milliseconds; one that takes this long is tried anew."""
_SILENCE_SECONDS = 8.0
"""On a socket. The service ends a batch after 5 s; the store's own deadline for a commit, 10 s, comes later."""
_START_SECONDS = 15.0
"""For each step of the start: the SDK asks for the account several times before it gives up."""
_KEEPS_DOCUMENTS = -1
"""The `defaultTtl` that lets an item's own time to live count and keeps all others for ever."""
_NEVER = -1
"""Retries on 429. The SDK takes 0 for "not given" and would retry nine times in 30 s, hidden from us and our lock."""
_TURN_TTL_ON = "Run `az cosmosdb sql container update --ttl -1`."


class ContainerUnusable(Exception):
    """A container cannot keep the promise. The text says what is wrong and what to run or change."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where a Cosmos DB account is and as whom to go there."""

    endpoint: str
    """Such as `https://<account>.documents.azure.com:443/`."""
    key: str | None = field(default=None, repr=False)
    """The account key; None to go without: as the managed identity, or as the developer who is signed in."""
    client_id: str | None = None
    """Client id of a user-assigned managed identity; None for whatever identity there is."""

    @classmethod
    def from_connection_string(cls, text: str) -> "Account":
        """Read `AccountEndpoint=…;AccountKey=…;`. Raises `ValueError` for anything else."""
        parts = dict(part.strip().split("=", 1) for part in text.split(";") if "=" in part)
        try:
            return cls(parts["AccountEndpoint"], parts["AccountKey"])
        except KeyError as missing:
            raise ValueError(f"The Cosmos DB connection string lacks {missing.args[0]}.") from None


@asynccontextmanager
async def open_client(account: Account) -> AsyncIterator[CosmosClient]:
    """A connected client, closed at the end with all it holds. One serves a whole process.

    The SDK's own retries are off where it lets us, so that the consumer sees what happens and waits it out. What
    remains of them: a 503 is sent once more after 0.5 s, even for a commit; reads are sent again on 408, 5xx and
    404/1002, to another region where there is one, and by aiohttp when a kept connection broke; a write met by 403/3
    follows the write region. The stores' deadlines bound them all.

    Proxies of the environment are not used: looking them up for every request halves the throughput.

    Raises `ContainerUnusable` when the account does not let us in, `TransientFailure` when it does not answer.
    """
    async with AsyncExitStack() as held:
        client = CosmosClient(
            account.endpoint,
            account.key if account.key else await held.enter_async_context(_identity(account)),
            transport=AioHttpTransport(use_env_settings=False),
            connection_timeout=_CONNECT_SECONDS,
            read_timeout=_SILENCE_SECONDS,
            retry_throttle_total=_NEVER,
            retry_connect=0,
            retry_read=0,
            no_response_on_write=True,
            enable_compact_utf8_item_writes=True,
        )
        held.push_async_callback(client.close)
        async with _told_apart(account.endpoint):
            await client.__aenter__()
        yield client


async def open_container(
    client: CosmosClient, database: str, container: str, *, partition_key_path: str
) -> ContainerProxy:
    """A container that was found fit to hold markers and documents. Raises as `check_container` does."""
    proxy = client.get_database_client(database).get_container_client(container)
    await check_container(proxy, partition_key_path)
    return proxy


async def check_container(container: ContainerProxy, partition_key_path: str) -> None:
    """Read the container and its account once, and refuse what would break the promise without anybody noticing.

    Raises `ContainerUnusable` with every fault and its remedy, `TransientFailure` when nobody answers.
    """
    name = container.container_link
    async with _told_apart(name):
        properties = await container.read()
        account = await container.client_connection.GetDatabaseAccount()
    if faults := faults_of(properties, account, partition_key_path):
        raise ContainerUnusable(f"{name}: " + " ".join(faults))


def _identity(account: Account) -> ManagedIdentityCredential | DefaultAzureCredential:
    if account.client_id:
        return ManagedIdentityCredential(client_id=account.client_id)
    return DefaultAzureCredential()


@asynccontextmanager
async def _told_apart(what: str) -> AsyncIterator[None]:
    """Tell a configuration that a person must mend from an outage that passes."""
    try:
        async with asyncio.timeout(_START_SECONDS):
            yield
    except (AzureError, OSError) as error:
        match status_of(error):
            case 401 | 403:
                raise ContainerUnusable(
                    f"{what}: Access was refused. Check the key or the firewall; without a key, run `az cosmosdb sql"
                    ' role assignment create --role-definition-name "Cosmos DB Built-in Data Contributor" --scope "/"'
                    " --principal-id <who the app runs as>`."
                ) from error
            case 404:
                raise ContainerUnusable(
                    f"{what}: It does not exist. Deploy the infrastructure, or run `az cosmosdb sql container create"
                    " --partition-key-path <as in the topology> --ttl -1`."
                ) from error
        if failure := read_failure(error):
            raise failure from error
        raise


def faults_of(properties: Mapping[str, Any], account: DatabaseAccount, partition_key_path: str) -> list[str]:
    faults = []
    paths = properties["partitionKey"]["paths"]
    if paths != [partition_key_path]:
        faults.append(
            f"It is partitioned by {', '.join(paths)}, and the topology says {partition_key_path}. That cannot be"
            " changed later: create it anew with `az cosmosdb sql container create"
            f" --partition-key-path {partition_key_path} --ttl -1`."
        )
    match properties.get("defaultTtl"):
        case None:
            faults.append("Its time to live is off, so markers would never expire. " + _TURN_TTL_ON)
        case seconds if seconds != _KEEPS_DOCUMENTS:
            faults.append(f"Its documents expire after {seconds} s, business documents included. " + _TURN_TTL_ON)
    if len(account.WritableLocations) > 1:
        regions = ", ".join(location["name"] for location in account.WritableLocations)
        faults.append(
            f"Its account writes in several regions ({regions}), where two copies of a message can both come first."
            " Run `az cosmosdb update --enable-multiple-write-locations false`."
        )
    return faults
