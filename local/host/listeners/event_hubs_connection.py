"""From settings to the SDK's clients: the hub itself, and the checkpoints in the app's own storage account."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, cast

from azure.core.exceptions import ResourceExistsError
from azure.eventhub.aio import EventHubConsumerClient
from azure.eventhub.extensions.checkpointstoreblobaio import BlobCheckpointStore
from azure.identity.aio import DefaultAzureCredential
from azure.storage.blob.aio import ContainerClient

from ..app_settings import AppSettings
from ..errors import HostError
from ..event_hubs_options import EventHubsOptions

NAMESPACE = "__fullyQualifiedNamespace"
STORAGE = "AzureWebJobsStorage"
# Where the extension keeps ownership and checkpoints (`EventHubOptions.CheckpointContainer`).
CHECKPOINT_CONTAINER = "azure-webjobs-eventhub"
# What `UseDevelopmentStorage=true` stands for; the checkpoint store's SDK does not know the short form.
AZURITE = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
)
# Seconds. Storage answers in milliseconds; whoever waits this long for an answer waits in vain.
STORAGE_DEADLINE = 10.0
# Seconds before the SDK's first retry; with its own 15 a short outage of storage would stop reading for a minute.
STORAGE_BACKOFF = 1
# How long the SDK holds on to its socket when it waits for a frame; its own 0.2 s would delay each event by as much.
SOCKET_POLL = 0.05


class _SequenceNumber(int):
    """Where to read on. True even when 0, because the SDK takes what is false for no checkpoint at all."""

    def __bool__(self) -> bool:
        return True


class Checkpoints(BlobCheckpointStore):
    """The SDK's store, except that reading resumes by sequence number instead of by offset.

    The two mean the same event; but a partition can be sent back to a sequence number without knowing its offset.
    """

    async def list_checkpoints(
        self, fully_qualified_namespace: str, eventhub_name: str, consumer_group: str, **kwargs: Any
    ) -> Iterable[dict[str, Any]]:
        """As the SDK's, with the sequence number in the place of the offset."""
        found = await super().list_checkpoints(fully_qualified_namespace, eventhub_name, consumer_group, **kwargs)
        return [each | {"offset": _SequenceNumber(each["sequence_number"])} for each in found]


@asynccontextmanager
async def opened_checkpoints(settings: AppSettings) -> AsyncIterator[Checkpoints]:
    """The app's checkpoints; the container need not exist yet.

    Raises HostError when the setting AzureWebJobsStorage is missing or is no connection string.
    """
    try:
        # The SDK's annotation names the base class; it makes what it was called on.
        checkpoints = cast(
            Checkpoints,
            Checkpoints.from_connection_string(
                _storage(settings),
                CHECKPOINT_CONTAINER,
                connection_timeout=STORAGE_DEADLINE,
                read_timeout=STORAGE_DEADLINE,
                initial_backoff=STORAGE_BACKOFF,
            ),
        )
    except ValueError as error:
        raise HostError(f"the app setting {STORAGE} is no storage connection string: {error}") from error
    async with checkpoints:
        yield checkpoints


async def create_container(settings: AppSettings) -> None:
    """Makes the container of the checkpoints, unless there is one. Raises the SDK's error when storage is away."""
    async with (
        asyncio.timeout(STORAGE_DEADLINE),
        ContainerClient.from_connection_string(_storage(settings), CHECKPOINT_CONTAINER) as container,
    ):
        with suppress(ResourceExistsError):
            await container.create_container()


@asynccontextmanager
async def connected(
    settings: AppSettings, name: str, hub: str, group: str, checkpoints: Checkpoints, options: EventHubsOptions
) -> AsyncIterator[EventHubConsumerClient]:
    """A client for the named connection: a connection string, or a namespace with the developer's own identity.

    Raises HostError when the setting is missing or is no connection string.
    """
    more: dict[str, Any] = {
        "checkpoint_store": checkpoints,
        "load_balancing_interval": _seconds(options.load_balancing_interval),
        "partition_ownership_expiration_interval": _seconds(options.ownership_expiration),
        "socket_timeout": SOCKET_POLL,
    }
    if text := settings.connection(name):
        try:
            client = EventHubConsumerClient.from_connection_string(text, group, eventhub_name=hub, **more)
        except ValueError as error:
            raise HostError(f"the app setting {name} is no Event Hubs connection string: {error}") from error
        async with client:
            yield client
    elif namespace := settings.connection(name, NAMESPACE):
        async with (
            DefaultAzureCredential() as credential,
            EventHubConsumerClient(namespace, hub, group, credential, **more) as client,
        ):
            yield client
    else:
        raise HostError(f"no Event Hubs connection: set the app setting {name} or {name}{NAMESPACE}")


def _storage(settings: AppSettings) -> str:
    text = settings.values.get(STORAGE)
    if not text:
        raise HostError(f"Event Hubs checkpoints need storage: set the app setting {STORAGE} to a connection string")
    if text.lower().rstrip(";") == "usedevelopmentstorage=true":
        return AZURITE
    return text


def _seconds(duration: timedelta) -> float:
    return duration.total_seconds()
