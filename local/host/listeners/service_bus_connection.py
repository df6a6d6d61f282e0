"""From a connection setting to an SDK client (Functions docs, "Azure Service Bus trigger", connections)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from azure.identity.aio import DefaultAzureCredential
from azure.servicebus.aio import ServiceBusClient

from ..app_settings import AppSettings
from ..errors import HostError

# The setting used when a binding names none.
DEFAULT_CONNECTION = "ServiceBus"
NAMESPACE = "__fullyQualifiedNamespace"


@asynccontextmanager
async def connected(settings: AppSettings, name: str) -> AsyncIterator[ServiceBusClient]:
    """A client for the named connection: a connection string, or a namespace with the developer's own identity.

    Raises HostError when the setting is missing or is no connection string.
    """
    name = name or DEFAULT_CONNECTION
    if text := settings.connection(name):
        try:
            client = ServiceBusClient.from_connection_string(text)
        except ValueError as error:
            raise HostError(f"the app setting {name} is no Service Bus connection string: {error}") from error
        async with client:
            yield client
    elif namespace := settings.connection(name, NAMESPACE):
        async with DefaultAzureCredential() as credential, ServiceBusClient(namespace, credential) as client:
            yield client
    else:
        raise HostError(f"no Service Bus connection: set the app setting {name} or {name}{NAMESPACE}")
