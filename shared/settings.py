"""The app settings that our code reads, checked together when the first of them is needed.

What the Functions host reads by itself (`ServiceBusConnection`, `EventHubConnection`) is the host's to check.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError


class SettingsError(Exception):
    """The app cannot run as it is configured. The text names every faulty setting and what is expected; no values."""


def _endpoint(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise PydanticCustomError("endpoint", "Expected a URL like https://<account>.documents.azure.com:443/")
    return text


def _connection_string(secret: SecretStr) -> SecretStr:
    pairs = (pair.strip().partition("=") for pair in secret.get_secret_value().split(";"))
    parts = {name: value for name, _, value in pairs}
    if not parts.get("AccountEndpoint") or not _is_base64(parts.get("AccountKey", "")):
        raise PydanticCustomError("connection_string", "Expected AccountEndpoint=<URL>;AccountKey=<key in base64>;")
    _endpoint(parts["AccountEndpoint"])
    return secret


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False


def _storage_connection_string(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    parts = {name.strip().casefold(): value for name, _, value in (pair.partition("=") for pair in text.split(";"))}
    with_key = parts.get("accountname") and _is_base64(parts.get("accountkey", ""))
    if not with_key and parts.get("usedevelopmentstorage", "").casefold() != "true":
        raise PydanticCustomError("connection_string", "Expected AccountName=<name>;AccountKey=<key in base64>;")
    return secret


type ConnectionString = Annotated[SecretStr, AfterValidator(_connection_string)]
type Endpoint = Annotated[str, AfterValidator(_endpoint)]
type StorageConnectionString = Annotated[SecretStr, AfterValidator(_storage_connection_string)]
type StorageAccountName = Annotated[str, Field(pattern=r"^[a-z0-9]{3,24}$")]


class CosmosSettings(BaseModel):
    """How to reach Cosmos DB: with a connection string, or without a key by an endpoint and an identity."""

    model_config = ConfigDict(frozen=True)

    connection_string: ConnectionString | None = Field(None, alias="CosmosConnection")
    """Endpoint and key; None when an identity is used."""
    endpoint: Endpoint | None = Field(None, alias="CosmosConnection__accountEndpoint")
    """Endpoint without a key; None when a connection string is used."""
    credential: Literal["managedidentity"] | None = Field(None, alias="CosmosConnection__credential")
    """Declares a managed identity, as Functions spells it (Microsoft Learn, "Connections")."""
    client_id: str | None = Field(None, alias="CosmosConnection__clientId")
    """The user-assigned identity; None for the app's own, or for the developer who is signed in."""


class StorageSettings(BaseModel):
    """How to reach the storage account, where events are parked: with a connection string, or by name and identity."""

    model_config = ConfigDict(frozen=True)

    connection_string: StorageConnectionString | None = Field(None, alias="AzureWebJobsStorage")
    """Name and key; None when an identity is used."""
    account_name: StorageAccountName | None = Field(None, alias="AzureWebJobsStorage__accountName")
    """Account without a key; None when a connection string is used."""
    credential: Literal["managedidentity"] | None = Field(None, alias="AzureWebJobsStorage__credential")
    """Declares a managed identity, as Functions spells it (Microsoft Learn, "Connections")."""
    client_id: str | None = Field(None, alias="AzureWebJobsStorage__clientId")
    """The user-assigned identity; None for the app's own, or for the developer who is signed in."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that our code reads."""

    cosmos: CosmosSettings
    """For the stores."""
    storage: StorageSettings
    """For the parking lot."""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Read and check them. Raises `SettingsError` with all faults of all of them in one text.

        Empty counts as absent.
        """
        present = {name: value for name, value in environment.items() if value.strip()}
        faults = _contradictions(present, "CosmosConnection", "CosmosConnection__accountEndpoint", "a URL")
        cosmos = _validated(CosmosSettings, present, faults)
        faults += _contradictions(
            present, "AzureWebJobsStorage", "AzureWebJobsStorage__accountName", "an account's name"
        )
        storage = _validated(StorageSettings, present, faults)
        if cosmos is None or storage is None or faults:
            raise SettingsError(" ".join(faults))
        return cls(cosmos, storage)


def _validated[S: BaseModel](cls: type[S], present: Mapping[str, str], faults: list[str]) -> S | None:
    """The settings of a service; None with what is wrong added to `faults`."""
    try:
        return cls.model_validate(present)
    except ValidationError as error:
        faults += [
            f"{fault['loc'][0]}: {fault['msg']}."
            for fault in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        return None


def _contradictions(present: Mapping[str, str], connection: str, keyless: str, expected: str) -> list[str]:
    """What is wrong between settings that are each right. `expected`: what the keyless setting is to hold."""
    faults = []
    if connection not in present and keyless not in present:
        faults.append(f"{connection}: Expected a connection string, or {expected} in {keyless}.")
    if connection in present and keyless in present:
        faults.append(f"{connection}, {keyless}: Expected one of them, not both.")
    if f"{connection}__clientId" in present and f"{connection}__credential" not in present:
        faults.append(f"{connection}__credential: Expected managedidentity beside {connection}__clientId.")
    return faults
