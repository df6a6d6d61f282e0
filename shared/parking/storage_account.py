"""The way to the table and the container of parked events: with a connection string, or without a key."""

from dataclasses import dataclass, field

from azure.core.credentials_async import AsyncTokenCredential
from azure.data.tables.aio import TableClient
from azure.identity.aio import DefaultAzureCredential, ManagedIdentityCredential
from azure.storage.blob.aio import ContainerClient

TABLE = "ParkedEvents"
CONTAINER = "parked-events"
_NO_RETRIES = 0
"""The SDKs would wait up to a minute, unseen, inside the invocation. The trigger's retry policy waits better."""


@dataclass(frozen=True, slots=True)
class KeyedAccount:
    """A storage account and its key."""

    connection_string: str = field(repr=False)
    """`AccountName=…;AccountKey=…`, with endpoints where they are not Azure's, or `UseDevelopmentStorage=true`."""


@dataclass(frozen=True, slots=True)
class KeylessAccount:
    """A storage account in Azure's public cloud, entered as the managed identity or the developer who is signed in."""

    name: str
    """Of the account."""
    client_id: str | None = None
    """Client id of a user-assigned managed identity; None for whatever identity there is."""


type StorageAccount = KeyedAccount | KeylessAccount


@dataclass(frozen=True, slots=True)
class Clients:
    """Connect on first use, and stay connected until they are closed."""

    table: TableClient
    """`ParkedEvents`."""
    container: ContainerClient
    """`parked-events`."""
    identity: DefaultAzureCredential | ManagedIdentityCredential | None = None
    """Where both get their tokens, if they need any."""

    async def close(self) -> None:
        await self.table.close()
        await self.container.close()
        if self.identity:
            await self.identity.close()


def connect(account: StorageAccount) -> Clients:
    """Clients for an account. Nothing is sent yet. Raises `ValueError` for a connection string that is none."""
    match account:
        case KeyedAccount(connection_string=text):
            return Clients(
                TableClient.from_connection_string(text, TABLE, retry_total=_NO_RETRIES),
                ContainerClient.from_connection_string(text, CONTAINER, retry_total=_NO_RETRIES),
            )
        case KeylessAccount(name=name, client_id=client_id):
            identity = ManagedIdentityCredential(client_id=client_id) if client_id else DefaultAzureCredential()
            credential: AsyncTokenCredential = identity
            return Clients(
                TableClient(
                    f"https://{name}.table.core.windows.net", TABLE, credential=credential, retry_total=_NO_RETRIES
                ),
                ContainerClient(
                    f"https://{name}.blob.core.windows.net", CONTAINER, credential, retry_total=_NO_RETRIES
                ),
                identity,
            )
