"""Settings: read once, every fault told, no secret told."""

import pytest

from shared.settings import CosmosSettings, Settings, SettingsError, StorageSettings

KEY = "c2VjcmV0LWtleQ=="
CONNECTION = f"AccountEndpoint=http://127.0.0.1:8081/;AccountKey={KEY};"
URL = "https://shop.documents.azure.com:443/"
STORAGE = f"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={KEY};EndpointSuffix=core.windows.net"


def cosmos(environment: dict[str, str]) -> CosmosSettings:
    """Read beside settings for storage that are right."""
    return Settings.read({"AzureWebJobsStorage": STORAGE} | environment).cosmos


def storage(environment: dict[str, str]) -> StorageSettings:
    """Read beside settings for the database that are right."""
    return Settings.read({"CosmosConnection": CONNECTION} | environment).storage


def test_a_connection_string_is_enough() -> None:
    """Other settings of the process are none of our business."""
    settings = cosmos({"CosmosConnection": CONNECTION, "PATH": "/bin", "ServiceBusConnection": "x"})
    assert settings.connection_string is not None
    assert settings.connection_string.get_secret_value() == CONNECTION


def test_an_endpoint_without_a_key_is_enough() -> None:
    """Keyless: the app's identity opens the account."""
    settings = cosmos({"CosmosConnection__accountEndpoint": URL})
    assert (settings.endpoint, settings.connection_string, settings.client_id) == (URL, None, None)


def test_a_user_assigned_identity_is_named_by_its_client_id() -> None:
    """As Functions spells identity-based connections."""
    settings = cosmos(
        {
            "CosmosConnection__accountEndpoint": URL,
            "CosmosConnection__credential": "managedidentity",
            "CosmosConnection__clientId": "11111111-2222-3333-4444-555555555555",
        }
    )
    assert settings.client_id == "11111111-2222-3333-4444-555555555555"


def test_all_faults_are_told_at_once() -> None:
    """Those of the database and those of storage: one deployment is enough to mend them all."""
    with pytest.raises(SettingsError) as fault:
        Settings.read(
            {
                "CosmosConnection": "AccountKey=secret",
                "CosmosConnection__accountEndpoint": "shop.documents.azure.com",
                "CosmosConnection__clientId": "id",
                "AzureWebJobsStorage": "AccountKey=secret",
                "AzureWebJobsStorage__clientId": "id",
            }
        )
    told = str(fault.value)
    assert "CosmosConnection, CosmosConnection__accountEndpoint: Expected one of them, not both." in told
    assert "CosmosConnection: Expected AccountEndpoint=<URL>;AccountKey=<key in base64>;." in told
    assert "CosmosConnection__accountEndpoint: Expected a URL" in told
    assert "CosmosConnection__credential: Expected managedidentity" in told
    assert "AzureWebJobsStorage: Expected AccountName=<name>;AccountKey=<key in base64>;." in told
    assert "AzureWebJobsStorage__credential: Expected managedidentity" in told
    assert "secret" not in told


@pytest.mark.parametrize("environment", [{}, {"CosmosConnection": " "}])
def test_what_is_missing_is_named(environment: dict[str, str]) -> None:
    """Empty counts as missing."""
    with pytest.raises(SettingsError, match="CosmosConnection: Expected a connection string"):
        cosmos(environment)


@pytest.mark.parametrize(
    "connection",
    [
        "hunter2",
        "AccountEndpoint=hunter2;AccountKey=c2VjcmV0;",
        "AccountEndpoint=http://[hunter2;AccountKey=c2VjcmV0;",
        "AccountEndpoint=https://shop/;AccountKey=hunter2!;",
        "AccountEndpoint=https://shop/;SharedAccessKey=hunter2;",
    ],
)
def test_no_secret_is_told(connection: str) -> None:
    """Neither in the error nor in the chain behind it, whatever is wrong with the value."""
    with pytest.raises(SettingsError) as fault:
        cosmos({"CosmosConnection": connection})
    assert "hunter2" not in str(fault.value)
    assert fault.value.__cause__ is None
    assert fault.value.__suppress_context__ or fault.value.__context__ is None


def test_settings_do_not_show_the_key() -> None:
    """Not when they are printed either."""
    assert KEY not in repr(cosmos({"CosmosConnection": CONNECTION}))


@pytest.mark.parametrize("text", [STORAGE, "UseDevelopmentStorage=true", "usedevelopmentstorage=TRUE;"])
def test_storage_is_reached_with_a_connection_string(text: str) -> None:
    """The account's own, or the emulator's short one."""
    settings = storage({"AzureWebJobsStorage": text})
    assert settings.connection_string is not None
    assert settings.connection_string.get_secret_value() == text


def test_storage_is_reached_without_a_key() -> None:
    """By the account's name and an identity, as Functions spells it."""
    settings = storage(
        {
            "AzureWebJobsStorage__accountName": "shop",
            "AzureWebJobsStorage__credential": "managedidentity",
            "AzureWebJobsStorage__clientId": "11111111-2222-3333-4444-555555555555",
        }
    )
    assert (settings.connection_string, settings.account_name) == (None, "shop")
    assert settings.client_id == "11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "AzureWebJobsStorage: Expected a connection string, or an account's name in"),
        ({"AzureWebJobsStorage": STORAGE, "AzureWebJobsStorage__accountName": "shop"}, "one of them, not both"),
        ({"AzureWebJobsStorage": "hunter2"}, "AzureWebJobsStorage: Expected AccountName=<name>"),
        ({"AzureWebJobsStorage": "AccountName=shop;AccountKey=hunter2!"}, "AccountKey=<key in base64>"),
        ({"AzureWebJobsStorage__accountName": "hunter2.blob.core.windows.net"}, "AzureWebJobsStorage__accountName: "),
        ({"AzureWebJobsStorage__accountName": "shop", "AzureWebJobsStorage__clientId": "hunter2"}, "__credential: "),
    ],
)
def test_what_is_wrong_with_storage_is_told_without_values(environment: dict[str, str], told: str) -> None:
    """Which setting, and what is expected of it."""
    with pytest.raises(SettingsError) as fault:
        storage(environment)
    assert told in str(fault.value)
    assert "hunter2" not in str(fault.value)
