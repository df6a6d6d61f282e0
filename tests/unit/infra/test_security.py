"""Identities only, TLS only, and a private network that is one or is not there."""

import re

import pytest

from .tree import INFRA, at, files, text

FILES = files()
NAMESPACES = {"service-bus": "Microsoft.ServiceBus/namespaces", "event-hubs": "Microsoft.EventHub/namespaces"}
COSMOS = ("cosmos", "Microsoft.DocumentDB/databaseAccounts")
STORAGE = ("storage", "Microsoft.Storage/storageAccounts")
WORKSPACE = ("monitoring", "Microsoft.OperationalInsights/workspaces")
COMPONENT = ("monitoring", "Microsoft.Insights/components")
SITE = ("function-app", "Microsoft.Web/sites")

REQUIRED = [
    *((name, kind, "properties.disableLocalAuth", True) for name, kind in NAMESPACES.items()),
    (*COSMOS, "properties.disableLocalAuth", True),
    (*COSMOS, "properties.disableKeyBasedMetadataWriteAccess", True),
    (*STORAGE, "properties.allowSharedKeyAccess", False),
    (*STORAGE, "properties.defaultToOAuthAuthentication", True),
    (*STORAGE, "properties.allowBlobPublicAccess", False),
    (*WORKSPACE, "properties.features.disableLocalAuth", True),
    (*COMPONENT, "properties.DisableLocalAuth", True),
    *((name, kind, "properties.minimumTlsVersion", "1.2") for name, kind in NAMESPACES.items()),
    (*COSMOS, "properties.minimalTlsVersion", "Tls12"),
    (*STORAGE, "properties.minimumTlsVersion", "TLS1_2"),
    (*STORAGE, "properties.supportsHttpsTrafficOnly", True),
    (*SITE, "properties.httpsOnly", True),
    (*SITE, "properties.siteConfig.minTlsVersion", "1.2"),
    (*SITE, "properties.siteConfig.scmMinTlsVersion", "1.2"),
    (*SITE, "properties.siteConfig.ftpsState", "Disabled"),
]
PRIVATE = "privateNetworking ? 'Disabled' : 'Enabled'"
SHUT = [
    *((name, kind, "properties.publicNetworkAccess") for name, kind in NAMESPACES.items()),
    (*COSMOS, "properties.publicNetworkAccess"),
    (*STORAGE, "properties.publicNetworkAccess"),
    (*WORKSPACE, "properties.publicNetworkAccessForIngestion"),
    (*COMPONENT, "properties.publicNetworkAccessForIngestion"),
]


@pytest.mark.parametrize(("file", "kind", "path", "value"), REQUIRED, ids=lambda one: str(one).split("/")[-1])
def test_only_identities_get_in_and_only_over_tls(file, kind, path, value):
    """Local authentication is off and TLS 1.2 is the least, on every service that has a switch for it."""
    assert at(FILES[file].the(kind).body, path) == value


def test_every_service_with_keys_is_in_the_list_above():
    """A service that is added brings its own switches."""
    known = {kind for _, kind, _, _ in REQUIRED}
    top_level = {one.type for file in FILES.values() for one in file.resources if one.type.count("/") == 1}
    without_keys = {
        "Microsoft.Authorization/roleAssignments",
        "Microsoft.Insights/actionGroups",
        "Microsoft.Insights/metricAlerts",
        "Microsoft.Insights/privateLinkScopes",
        "Microsoft.Insights/scheduledQueryRules",
        "Microsoft.Insights/workbooks",
        "Microsoft.ManagedIdentity/userAssignedIdentities",
        "Microsoft.Network/privateDnsZones",
        "Microsoft.Network/privateEndpoints",
        "Microsoft.Network/virtualNetworks",
        "Microsoft.Resources/resourceGroups",
        "Microsoft.Web/serverfarms",
    }
    assert top_level - without_keys == known


def test_publishing_wants_a_token():
    """No user name and password, neither for FTP nor for the deployment endpoint."""
    policies = FILES["function-app"].made("Microsoft.Web/sites/basicPublishingCredentialsPolicies")
    assert {one.body["name"]: at(one.body, "properties.allow") for one in policies} == {"ftp": False, "scm": False}


@pytest.mark.parametrize("name", FILES)
def test_no_key_is_asked_for(name):
    """Nothing lists keys, takes a secret, or spells a connection string that has one."""
    source = FILES[name].path.read_text()
    assert re.findall(r"\blist\w*\(|@secure|AccountKey|SharedAccessKey|primaryKey", source) == []


def test_no_output_is_secret():
    """What leaves the monitoring module as a connection string stays inside: only the app gets it."""
    main = (INFRA / "main.bicep").read_text()
    assert re.findall(r"(\w+): monitoring\.outputs\.connectionString", main) == ["componentConnectionString"]
    assert not [name for name, value in FILES["main"].outputs.items() if "onnectionString" in text(value)]


@pytest.mark.parametrize(("file", "kind", "path"), SHUT, ids=lambda one: str(one).split("/")[-1])
def test_one_parameter_shuts_every_public_door(file, kind, path):
    """A private network with one service left open is none."""
    assert text(at(FILES[file].the(kind).body, path)) == PRIVATE


def test_the_private_network_has_an_endpoint_for_every_service_it_shuts():
    """Each service, storage with both of the kinds that are used, and telemetry."""
    (targets,) = [FILES["private-network"].variables["targets"]]
    assert {(text(one["id"]), one["group"]) for one in targets} == {
        ("storageId", "blob"),
        ("storageId", "table"),
        ("serviceBusId", "namespace"),
        ("eventHubsId", "namespace"),
        ("cosmosId", "Sql"),
        ("monitorScope.id", "azuremonitor"),
    }
    scoped = FILES["private-network"].made("Microsoft.Insights/privateLinkScopes/scopedResources")
    assert {text(at(one.body, "properties.linkedResourceId")) for one in scoped} == {"workspaceId", "componentId"}


def test_the_private_network_depends_on_one_parameter():
    """The module is there or it is not; the app is attached to it or not."""
    (network,) = [module for module in FILES["main"].modules if module.symbol == "privateNetwork"]
    assert network.condition == "(privateNetworking)"
    (app,) = [module for module in FILES["main"].modules if module.symbol == "functionApp"]
    assert text(app.body["params"]["subnetId"]).startswith("privateNetworking ? ")
    assert text(at(FILES["service-bus"].the("Microsoft.ServiceBus/namespaces").body, "sku.name")) == (
        "privateNetworking ? 'Premium' : 'Standard'"
    )


@pytest.mark.parametrize("name", FILES)
def test_everything_that_has_a_place_has_the_tag_of_its_environment(name):
    """azd finds and takes down by tag."""
    placed = [one for one in FILES[name].resources if not one.existing and "location" in one.body]
    assert [one.symbol for one in placed if "tags" not in text(one.body.get("tags"))] == []
