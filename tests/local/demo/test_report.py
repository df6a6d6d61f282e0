"""The report: a table for people, a file for programs."""

import dataclasses
import json
from pathlib import Path

from local.demo import orders, stream
from local.demo.report import Row, differences, table, write_ledger
from local.demo.run import as_json

KEYS = [
    "sent",
    "distinct",
    "dropped_by_broker",
    "deliveries",
    "processed",
    "duplicates",
    "dead_lettered",
    "documents",
    "expected",
    "lost",
    "doubled",
    "store_round_trips_per_new_message",
    "events",
]
EVENT_KEYS = [
    "sent",
    "delivered",
    "processed",
    "duplicates",
    "parked",
    "levels",
    "expected",
    "lost",
    "doubled",
    "store_requests_per_event",
]


def test_the_file_has_exactly_the_agreed_keys(tmp_path: Path) -> None:
    """Programs read it."""
    message_ledger = orders.Ledger(7, 5, 1, 6, 5, 0, {"Malformed": 1}, {"order": 5}, {"order": 5}, 0, 0, 1.0)
    event_ledger = stream.Ledger(4, 6, 3, 2, {"Malformed": 1}, {"tea": "1.5"}, {"tea": "1.5"}, 0, 0, 0.5)
    write_ledger(as_json(message_ledger, event_ledger), tmp_path / "new" / "ledger.json")
    written = json.loads((tmp_path / "new" / "ledger.json").read_text())
    assert list(written) == KEYS
    assert list(written["events"]) == EVENT_KEYS
    assert written.pop("events") == dataclasses.asdict(event_ledger)
    assert written == dataclasses.asdict(message_ledger)


def test_the_table_shows_what_was_found_beside_what_was_expected() -> None:
    """People read it; where nothing is expected, nothing is shown."""
    shown = table("read from the broker", [Row("lost", 0, 0), Row("deliveries", 291, None), Row("trips", 1.2345, 1.0)])
    assert [line.split() for line in shown.splitlines()] == [
        ["read", "from", "the", "broker", "found", "expected"],
        ["lost", "0", "0"],
        ["deliveries", "291"],
        ["trips", "1.234", "1.0"],
    ]


def test_only_what_was_expected_can_differ() -> None:
    """One sentence for each row that is not as it has to be."""
    found = differences([Row("lost", 2, 0), Row("doubled", 0, 0), Row("deliveries", 291, None)])
    assert found == ["lost: 2 found, 0 expected"]
