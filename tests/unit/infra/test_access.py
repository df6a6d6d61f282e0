"""Who may do what: the named maps of grants, and that nothing is granted beside them."""

import json
import re

import pytest

from .tree import INFRA, at, files, text

FILES = files()
ROLES = json.loads((INFRA / "roles.json").read_text())
# Built-in roles have the same id in every subscription ("Azure built-in roles").
ROLE_ID = re.compile(r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
APP = {
    "storage": ["Storage Blob Data Owner", "Storage Table Data Contributor"],
    "serviceBus": ["Azure Service Bus Data Receiver"],
    "eventHubs": ["Azure Event Hubs Data Receiver"],
    "component": ["Monitoring Metrics Publisher"],
    "cosmos": ["Cosmos DB Built-in Data Contributor"],
}
PEOPLE = {
    "storage": ["Storage Blob Data Reader", "Storage Table Data Contributor"],
    "serviceBus": ["Azure Service Bus Data Receiver", "Azure Service Bus Data Sender"],
    "eventHubs": ["Azure Event Hubs Data Receiver", "Azure Event Hubs Data Sender"],
    "cosmos": ["Cosmos DB Built-in Data Reader"],
}
EXPECTED = [("app-access", APP), ("people-access", PEOPLE)]


@pytest.mark.parametrize(("name", "expected"), EXPECTED)
def test_grants_are_these_and_each_has_a_reason(name, expected):
    """Least privilege is a list that changes on purpose."""
    grants = FILES[name].variables["grants"]
    assert {target: [grant["role"] for grant in some] for target, some in grants.items()} == expected
    assert all(grant["because"].endswith(".") for some in grants.values() for grant in some)


@pytest.mark.parametrize(("name", "expected"), EXPECTED)
def test_every_group_of_grants_is_assigned_where_it_is_named(name, expected):
    """`grants.storage` on the storage account, and so on, to the principal of the module."""
    assignments = [one for one in FILES[name].resources if not one.existing]
    assert {one.over for one in assignments} == {f"grants.{target}" for target in expected}
    for one in assignments:
        target = one.over.removeprefix("grants.")
        assert text(one.body.get("scope") or one.body["parent"]) == target
        assert text(at(one.body, "properties.principalId")) == "principalId"
        assert "roles[grant.role]" in text(at(one.body, "properties.roleDefinitionId"))
        assert text(one.body["name"]) == f"guid({target}.id, principalId, grant.role)"


def test_roles_are_built_in_ids_and_each_is_granted_to_somebody():
    """The map of names has no leftovers."""
    granted = {role for _, expected in EXPECTED for some in expected.values() for role in some}
    assert granted == set(ROLES)
    assert all(ROLE_ID.match(id) for id in ROLES.values())
    assert len(set(ROLES.values())) == len(ROLES)


def test_roles_are_granted_nowhere_else():
    """Whoever looks for access finds all of it in two files."""
    elsewhere = [
        (name, one.symbol)
        for name, file in FILES.items()
        for one in file.resources
        if one.type.lower().endswith("roleassignments") and name not in {"app-access", "people-access"}
    ]
    assert elsewhere == []


def test_the_app_gets_its_roles_before_it_starts():
    """Otherwise its first minutes are failures, and its package cannot be fetched."""
    (app,) = [module for module in FILES["main"].modules if module.symbol == "functionApp"]
    assert "appAccess" in [text(one) for one in app.body["dependsOn"]]


def test_nobody_is_given_access_when_nobody_is_named():
    """An empty principal is no principal."""
    (people,) = [module for module in FILES["main"].modules if module.symbol == "peopleAccess"]
    assert people.condition == "(!empty(principalId))"
