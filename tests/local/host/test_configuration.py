"""host.json, local.settings.json and the environment."""

import json
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from local.host.app_settings import AppSettings
from local.host.errors import HostError
from local.host.host_json import HostJson, ServiceBusOptions


def write(folder: Path, name: str, content: object) -> Path:
    (folder / name).write_text(json.dumps(content))
    return folder


def test_an_empty_host_json_means_productions_defaults(tmp_path: Path) -> None:
    """What host.json does not say is what production does."""
    host_json = HostJson.read(write(tmp_path, "host.json", {"version": "2.0"}))
    assert host_json.service_bus == ServiceBusOptions(16, 0, True, timedelta(minutes=5))
    assert (host_json.route_prefix, host_json.log_level) == ("api", logging.INFO)


def test_host_json_is_honoured(tmp_path: Path) -> None:
    """Every value this host knows is read from host.json."""
    service_bus = {
        "maxConcurrentCalls": 3,
        "prefetchCount": 7,
        "autoCompleteMessages": False,
        "maxAutoLockRenewalDuration": "1.00:02:03",
    }
    content = {
        "version": "2.0",
        "extensions": {"serviceBus": service_bus, "http": {"routePrefix": "v1/"}},
        "logging": {"logLevel": {"default": "Warning"}},
    }
    host_json = HostJson.read(write(tmp_path, "host.json", content))
    assert host_json.service_bus == ServiceBusOptions(3, 7, False, timedelta(days=1, minutes=2, seconds=3))
    assert (host_json.route_prefix, host_json.log_level) == ("v1", logging.WARNING)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"version": "2.0", "logging": {"logLevel": {"default": "Loud"}}},
        {"version": "2.0", "extensions": {"serviceBus": {"maxAutoLockRenewalDuration": "five minutes"}}},
        {"version": "2.0", "extensions": {"serviceBus": {"maxConcurrentCalls": 0}}},
    ],
)
def test_a_host_json_that_makes_no_sense_is_refused(tmp_path: Path, content: object) -> None:
    """A value that cannot be meant stops the host instead of becoming a default."""
    with pytest.raises(HostError):
        HostJson.read(write(tmp_path, "host.json", content))


def test_a_folder_without_host_json_is_no_app(tmp_path: Path) -> None:
    """The error names the file that is missing."""
    with pytest.raises(HostError, match=r"no host\.json"):
        HostJson.read(tmp_path)


def test_environment_wins_over_the_file_and_a_test_over_both(tmp_path: Path) -> None:
    """Settings have one order of weight."""
    write(tmp_path, "local.settings.json", {"Values": {"A": "file", "B": "file", "C": "file"}})
    settings = AppSettings.read(tmp_path, {"B": "environment", "C": "environment"}, {"C": "test"})
    assert settings.values == {"A": "file", "B": "environment", "C": "test"}


def test_an_encrypted_settings_file_is_refused(tmp_path: Path) -> None:
    """Its values would be gibberish, so the host says how to decrypt them."""
    write(tmp_path, "local.settings.json", {"IsEncrypted": True, "Values": {}})
    with pytest.raises(HostError, match="decrypt"):
        AppSettings.read(tmp_path, {}, {})


def test_references_are_resolved_from_the_settings() -> None:
    """`%NAME%` becomes the setting; a setting that is missing is named."""
    settings = AppSettings({"QUEUE": "orders"})
    assert settings.resolve("%QUEUE%-v2") == "orders-v2"
    with pytest.raises(HostError, match="MISSING"):
        settings.resolve("%MISSING%")


def test_a_connection_is_found_under_both_of_its_names() -> None:
    """The host knows a connection by its own name and with the AzureWebJobs prefix, identity suffix included."""
    settings = AppSettings({"AzureWebJobsBus": "plain", "Other__fullyQualifiedNamespace": "ns"})
    assert settings.connection("Bus") == "plain"
    assert settings.connection("Other") is None
    assert settings.connection("Other", "__fullyQualifiedNamespace") == "ns"
