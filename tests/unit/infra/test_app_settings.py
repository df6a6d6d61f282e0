"""The settings of the deployed app: those that triggers and code read, keyless, and no other."""

import ast
import re

from shared.settings import CosmosSettings, Settings, StorageSettings

from .tree import ROOT, at, files, text

FILES = files()
SETTINGS = FILES["function-app"].variables["settings"]
# The first part of a keyless connection, by connection ("Connections" and the pages of the two extensions).
PLACE = {
    "AzureWebJobsStorage": "accountName",
    "ServiceBusConnection": "fullyQualifiedNamespace",
    "EventHubConnection": "fullyQualifiedNamespace",
    "CosmosConnection": "accountEndpoint",
}
# "App settings reference": on Flex Consumption these are refused, or come from functionAppConfig.
NOT_ON_FLEX = re.compile(
    "FUNCTIONS_WORKER_RUNTIME|FUNCTIONS_EXTENSION_VERSION|FUNCTIONS_WORKER_PROCESS_COUNT|WEBSITE_RUN_FROM_PACKAGE"
    "|WEBSITE_CONTENT.*|SCM_DO_BUILD_DURING_DEPLOYMENT|ENABLE_ORYX_BUILD"
)


def connections_of_triggers():
    tree = ast.parse((ROOT / "function_app.py").read_text())
    return {node.value.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "connection"}


def test_every_connection_is_three_settings():
    """Where, that it is a managed identity, and which."""
    for connection, place in PLACE.items():
        parts = {name.removeprefix(f"{connection}__") for name in SETTINGS if name.startswith(f"{connection}__")}
        assert parts == {place, "credential", "clientId"}
        assert SETTINGS[f"{connection}__credential"] == "managedidentity"
        assert text(SETTINGS[f"{connection}__clientId"]) == "identityClientId"
        assert connection not in SETTINGS, "a connection string beside the three would win over them"


def test_connections_are_those_of_triggers_and_of_our_code():
    """Nothing is connected that nobody uses."""
    deployed = {name.split("__")[0] for name in SETTINGS if "__" in name}
    ours = {
        str(field.alias).split("__")[0]
        for one in (CosmosSettings, StorageSettings)
        for field in one.model_fields.values()
    }
    assert deployed == connections_of_triggers() | ours == set(PLACE)


def test_our_code_accepts_the_settings_as_they_are_deployed():
    """Names and forms, with values like those that the services will have."""
    values = {
        "storageName": "stabc123",
        "serviceBusHost": "sbns-abc.servicebus.windows.net",
        "eventHubsHost": "evhns-abc.servicebus.windows.net",
        "cosmosEndpoint": "https://cosmos-abc.documents.azure.com:443/",
        "identityClientId": "11111111-2222-3333-4444-555555555555",
    }
    environment = {name: values.get(text(value), text(value)) for name, value in SETTINGS.items()}
    settings = Settings.read(environment)
    cosmos, storage = settings.cosmos, settings.storage
    assert (cosmos.endpoint, cosmos.client_id) == (values["cosmosEndpoint"], values["identityClientId"])
    assert (storage.account_name, storage.client_id) == ("stabc123", values["identityClientId"])


def test_telemetry_settings_are_those_that_the_page_explains():
    """docs/telemetry.md is where names are defined."""
    page = (ROOT / "docs" / "telemetry.md").read_text().partition("## App settings")[2]
    explained = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert explained == {name for name in SETTINGS if "__" not in name} - {"AZURE_CLIENT_ID"}
    for value in re.findall(r"`((?:[\w.]+,)+\w+)`", page):
        assert value in SETTINGS.values()


def test_nothing_is_set_that_the_plan_refuses():
    """On Flex Consumption the runtime is part of the app's configuration."""
    assert [name for name in SETTINGS if NOT_ON_FLEX.fullmatch(name)] == []
    site = FILES["function-app"].the("Microsoft.Web/sites").body
    assert at(site, "properties.siteConfig.linuxFxVersion") is None
    assert at(site, "properties.functionAppConfig.runtime") == {
        "name": "python",
        "version": (ROOT / ".python-version").read_text().strip(),
    }


def test_the_package_is_fetched_by_identity():
    """No connection string for the container that the package lies in."""
    storage = at(
        FILES["function-app"].the("Microsoft.Web/sites").body, "properties.functionAppConfig.deployment.storage"
    )
    assert at(storage, "authentication.type") == "UserAssignedIdentity"
    assert "storageAccountConnectionStringName" not in storage["authentication"]


def test_people_get_the_same_names_from_azd():
    """`azd env get-values` gives a signed-in person what the code reads, without the app's identity."""
    places = {f"{connection}__{place}" for connection, place in PLACE.items()}
    assert {name for name in FILES["main"].outputs if "__" in name} == places
