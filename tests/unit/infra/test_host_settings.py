"""docs/host-settings.md says of every number what it is and why; the code says what it is."""

import json
import re
from datetime import timedelta

from shared.topology import Topology
from shared.transports import event_hubs, service_bus

from .test_entities import triggers
from .tree import ROOT, files

PAGE = (ROOT / "docs" / "host-settings.md").read_text()


def leaves(value, path=""):
    if isinstance(value, dict):
        return {leaf: found for key, one in value.items() for leaf, found in leaves(one, f"{path}.{key}").items()}
    return {path.removeprefix("."): value if isinstance(value, str) else json.dumps(value)}


def rows(section):
    table = PAGE.partition(f"## {section}")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:2] == "| "][
        1:
    ]


def test_every_setting_of_the_extensions_is_explained():
    """No number without a reason, and no reason for a number that is not there."""
    extensions = json.loads((ROOT / "host.json").read_text())["extensions"]
    explained = {setting.strip("`"): value.strip("`") for setting, value, _ in rows("host.json")}
    assert explained == leaves(extensions)
    assert all(len(why) > 40 for _, _, why in rows("host.json"))


def test_numbers_beside_host_json_are_those_of_the_code():
    """Each row names the file; here it is asked."""
    said = {name: value for name, value, _, _ in rows("Beside host.json")}
    queues = Topology.read(ROOT / "shared" / "topology.json").queues.values()
    assert {queue.lock_duration for queue in queues} == {timedelta(minutes=int(said.pop("lock").split()[0]))}
    assert {str(queue.max_delivery_count) for queue in queues} == {said.pop("deliveries")}
    assert said.pop("patience with the database, messages") == f"{service_bus.PATIENCE:.0f} s"
    assert said.pop("patience with the database, events") == f"{event_hubs.PATIENCE:.0f} s"
    retry = triggers()["record_movement"]["retry"]
    assert (retry["max_retry_count"], retry["minimum_interval"], retry["maximum_interval"]) == (
        "-1",
        "00:00:01",
        "00:01:00",
    )
    assert said.pop("retries of a batch") == "without end, 1 s to 1 min apart"
    app = files()["function-app"].variables
    assert said.pop("instances") == f"{app['maximumInstanceCount']} for each function"
    assert said.pop("memory of an instance") == f"{app['instanceMemoryMB']} MB"
    assert said == {}


def test_files_that_the_page_names_exist():
    """A reader who follows a row finds it."""
    assert [
        name for name in re.findall(r"`((?:shared|infra|tests)/[\w./-]+)`", PAGE) if not (ROOT / name).exists()
    ] == []
