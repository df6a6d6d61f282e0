"""Queries: closed brackets and texts, only names from docs/telemetry.md, and what the rules and the workbook need."""

import json
import re
from datetime import timedelta

import pytest

from shared.idempotency.errors import Reason
from shared.topology import Topology

from .tree import INFRA, ROOT, at, files, text

FILES = files()
QUERIES = {path.stem + f" ({path.parent.name})": path for path in sorted((INFRA / "queries").rglob("*.kql"))}
ALERTS = FILES["alerts"].variables["logAlerts"]
PAGE = (ROOT / "docs" / "telemetry.md").read_text()
METRICS = {
    name: set(re.findall(r"`(\w+)`", attributes))
    for name, attributes in re.findall(r"^\| `(idempotency\.[\w.]+)` \| \w+ \|[^|]*\|([^|]*)\|", PAGE, re.MULTILINE)
}
METRICS_SECTION = PAGE.partition("## Metrics")[2].partition("\n## ")[0]
VALUES = {
    name: set(re.findall(r"`(\w+)`", values))
    for name, values in re.findall(r"^\| `(\w+)` \|([^|]*)\|$", METRICS_SECTION, re.MULTILINE)
}
# Columns of customMetrics in Application Insights ("customMetrics" in the Azure Monitor reference).
COLUMNS = {"timestamp", "name", "valueSum", "valueCount", "valueMax", "valueMin", "customDimensions"}
CLOSING = {"(": ")", "[": "]", "{": "}"}


def statements(query):
    """The query without comments."""
    return re.sub(r"//.*", "", query)


def without_texts(query):
    return re.sub(r"'[^']*'", "''", statements(query))


@pytest.mark.parametrize("name", QUERIES)
def test_brackets_and_texts_are_closed(name):
    """As much of the syntax as is checked without a parser of the language."""
    query = statements(QUERIES[name].read_text())
    assert all(line.count("'") % 2 == 0 for line in query.splitlines())
    assert '"' not in query
    expected = []
    for character in without_texts(query):
        if character in CLOSING:
            expected.append(CLOSING[character])
        elif character in CLOSING.values():
            assert expected
            assert expected.pop() == character
    assert expected == []


@pytest.mark.parametrize("name", QUERIES)
def test_queries_ask_for_metrics_that_exist_with_the_attributes_they_have(name):
    """Spans are sampled, so no query counts them; names are those of the one page."""
    for part in re.split(r"\bcustomMetrics\b", statements(QUERIES[name].read_text()))[1:]:
        metrics = re.findall(r"'(idempotency\.[\w.]+)'", part)
        assert metrics
        assert set(metrics) <= set(METRICS)
        attributes = set(re.findall(r"customDimensions\.(\w+)", part))
        assert attributes <= set.intersection(*(METRICS[metric] for metric in metrics))


@pytest.mark.parametrize("name", QUERIES)
def test_queries_compare_with_values_that_occur(name):
    """An outcome or a reason that is never sent would make a rule that never fires."""
    compared = re.findall(r"customDimensions\.(\w+) == '([^']*)'", statements(QUERIES[name].read_text()))
    assert [(attribute, value) for attribute, value in compared if attribute in VALUES and not (
        value in VALUES[attribute] or (attribute == "status" and value.isdigit())
    )] == []  # fmt: skip


@pytest.mark.parametrize("name", QUERIES)
def test_queries_read_one_table(name):
    """customMetrics, by columns that it has."""
    query = without_texts(QUERIES[name].read_text())
    assert not re.findall(r"\b(?:traces|requests|dependencies|customEvents|exceptions)\b", query)
    assert set(re.findall(r"\bvalue[A-Z]\w*", query)) <= COLUMNS


def test_the_page_was_understood():
    """The tables of the page were found; a reason that the library knows is a reason of the page."""
    assert len(METRICS) >= 10
    assert VALUES["reason"] == {str(reason) for reason in Reason}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["name"])
def test_rules_get_a_value_for_each_subject(alert):
    """And the time where a rule looks at several windows in a row."""
    query = (INFRA / "queries" / "alerts" / f"{alert['name']}.kql").read_text()
    assert text(alert["query"]) == f"loadTextContent('../queries/alerts/{alert['name']}.kql')"
    assert re.search(r"\bvalue = ", query)
    assert re.search(r"\bsubject\b", query)
    assert ("timestamp" in statements(query)) == (alert["periods"] > 1)
    assert alert["description"].endswith(".")


def test_rules_read_what_queries_give():
    """One rule for each entry, on the component whose tables the queries name."""
    rule = FILES["alerts"].the("Microsoft.Insights/scheduledQueryRules")
    (condition,) = at(rule.body, "properties.criteria.allOf")
    assert condition["metricMeasureColumn"] == "value"
    assert [one["name"] for one in condition["dimensions"]] == ["subject"]
    assert rule.over == "logAlerts"
    assert [text(one) for one in at(rule.body, "properties.scopes")] == ["componentId"]


def test_what_needs_a_person_has_an_alert():
    """Every alert there is, by name: none goes, and none comes, unnoticed."""
    assert {alert["name"] for alert in ALERTS} == {
        "duplicate-share",
        "event-lag",
        "failing-commits",
        "fingerprint-mismatches",
        "parked-events",
        "store-throttling",
    }
    broker = {text(one.body["name"]).strip("'") for one in FILES["alerts"].made("Microsoft.Insights/metricAlerts")}
    assert broker == {"dead-letters", "queue-stands-still-${queue}", "stream-stands-still-${hub}"}
    watched = {
        criterion["metricName"]
        for one in FILES["alerts"].made("Microsoft.Insights/metricAlerts")
        for criterion in at(one.body, "properties.criteria.allOf")
    }
    # "Supported metrics for Microsoft.ServiceBus/Namespaces" and "… Microsoft.EventHub/Namespaces".
    assert watched == {
        "DeadletteredMessages",
        "ActiveMessages",
        "CompleteMessage",
        "IncomingMessages",
        "OutgoingMessages",
    }


def test_every_alert_tells_the_same_people():
    """A rule without an action is a rule that nobody hears."""
    for kind in ("scheduledQueryRules", "metricAlerts"):
        for rule in FILES["alerts"].made(f"Microsoft.Insights/{kind}"):
            actions = at(rule.body, "properties.actions")
            assert "peopleIds" in (actions.over if hasattr(actions, "over") else text(actions["actionGroups"]))


def test_causes_of_duplicates_are_told_apart_by_the_brokers_limits():
    """The query names a lock and a detection window: those of the queues."""
    query = (INFRA / "queries" / "workbook" / "duplicates-by-cause.kql").read_text()
    minutes = {name: timedelta(minutes=int(value)) for name, value in re.findall(r"let (\w+) = (\d+)m;", query)}
    queues = Topology.read(ROOT / "shared" / "topology.json").queues.values()
    assert {queue.lock_duration for queue in queues} == {minutes["lockDuration"]}
    assert {queue.duplicate_detection_history_time_window for queue in queues} == {minutes["detectionWindow"]}


def test_people_are_told_what_to_do_for_every_reason():
    """A reason that is added to the library gets its line."""
    query = (INFRA / "queries" / "workbook" / "needs-a-person.kql").read_text()
    assert set(re.findall(r"why == '(\w+)'", query)) == {str(reason) for reason in Reason}


def test_the_workbook_shows_every_query_that_is_kept_for_it():
    """Each step of type 3 has the query of its name; texts and the choice of time are as they stand."""
    workbook = json.loads((INFRA / "workbook.json").read_text())
    shown = [item for item in workbook["items"] if item["type"] == FILES["workbook"].variables["queryStep"]]
    kept = {path.stem for path in (INFRA / "queries" / "workbook").glob("*.kql")}
    assert sorted(item["name"] for item in shown) == sorted(kept)
    assert {name: text(value) for name, value in FILES["workbook"].variables["queries"].items()} == {
        name: f"loadTextContent('../queries/workbook/{name}.kql')" for name in kept
    }
    for item in shown:
        assert item["content"]["timeContextFromParameter"] == "TimeRange"
        assert item["content"]["title"]
        assert "query" not in item["content"]
    (time,) = [item for item in workbook["items"] if item["type"] == 9]
    assert [one["name"] for one in time["content"]["parameters"]] == ["TimeRange"]
