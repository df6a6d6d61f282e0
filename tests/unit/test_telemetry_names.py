"""docs/telemetry.md is the one table of names: what the code emits is in it, and nothing else is."""

import logging
import re
from contextlib import suppress
from pathlib import Path

from shared.idempotency import Delivery, Doubtful, Event, Parked, Reason, Rejected, SettlementFailed
from shared.telemetry.ends import End
from tests import examples
from tests.listening import KEY, Listener, ended, everything, retrying

PAGE = (Path(__file__).parents[2] / "docs" / "telemetry.md").read_text()
_ORDINARY = set(vars(logging.makeLogRecord({}))) | {"message"}
# What metrics may be told apart by: each has few values, and none says which message it was.
CLOSED = {"consumer", "outcome", "reason", "operation", "container", "status", "cause", "source", "settlement"}


def section(title: str) -> list[list[str]]:
    """The rows of all tables under a heading, cell by cell, without their heads."""
    body = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]


def names(cell: str) -> set[str]:
    """What is written as code in a cell."""
    return set(re.findall(r"`([^`]+)`", cell))


def everything_told() -> tuple[Listener, list[logging.LogRecord]]:
    """Every kind of event in every kind of invocation, and what was logged of it."""
    listener = Listener()
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger("idempotency")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        for event in everything():
            delivery = getattr(event, "delivery", examples.delivery(correlation_id="c-9"))
            tell_whole_invocation(listener, delivery, event)
        batch = [examples.delivery(message_id=f"m-{n}") for n in range(2)]
        with listener.telemetry.batch("record_movement", "stock-movements", batch):
            for event in everything():
                listener.telemetry.hook(event)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return listener, records


def tell_whole_invocation(listener: Listener, delivery: Delivery, event: Event) -> None:
    """The event in an invocation that raises; what follows on an outcome comes after one."""
    with suppress(KeyError), listener.telemetry.message("place_order", "orders", [delivery]):
        if isinstance(event, SettlementFailed | Parked):
            listener.telemetry.hook(ended(Rejected(Reason.MALFORMED, "why"), delivery=delivery))
        listener.telemetry.hook(event)
        raise KeyError("secret")


def test_metrics_are_those_of_the_page() -> None:
    """Name, kind, unit and attributes."""
    listener, _ = everything_told()
    units = listener.units()
    attributes = {
        name: {attribute for point in points for attribute in point.attributes}
        for name, points in listener.metrics().items()
    }
    written = {
        name.strip("`"): (kind, unit, names(attributes))
        for name, kind, unit, attributes, _ in (row for row in section("Metrics") if len(row) == 5)
    }
    assert {name: (*units[name], attributes[name]) for name in units} == written


def test_attributes_of_metrics_are_a_closed_list() -> None:
    """All of them are explained, and none of them names a message, a key or a partition."""
    listener, _ = everything_told()
    points = [point for series in listener.metrics().values() for point in series]
    assert {name for point in points for name in point.attributes} == CLOSED
    assert {row[0].strip("`") for row in section("Metrics") if len(row) == 2} == CLOSED
    values = {str(value) for point in points for value in point.attributes.values()}
    assert values.isdisjoint({"1001/placed", "1001", KEY, "c-9"})


def test_values_of_attributes_are_those_of_the_page() -> None:
    """Whoever writes a query finds every value there is."""
    values = {row[0].strip("`"): names(row[1]) for row in section("Metrics") if len(row) == 2}
    assert values["outcome"] == {end.value for end in End}
    assert values["reason"] == {reason.value for reason in Reason}
    assert values["cause"] == {type(cause).__name__ for cause in (retrying().cause, Doubtful("lost"))}
    assert values["operation"] == {"read", "read_many", "commit"}
    assert values["settlement"] == {"complete", "dead_letter"}


def test_log_lines_are_those_of_the_page() -> None:
    """Event, level and every field."""
    _, records = everything_told()
    found: dict[str, set[str]] = {}
    for record in records:
        fields = {name for name in vars(record) if name not in _ORDINARY}
        found.setdefault(vars(record)["event"], set()).update(fields - {"event"})
    rows = {row[0].strip("`"): row for row in section("Log lines") if len(row) == 3}
    assert found == {event: names(row[2]) for event, row in rows.items()}
    levels = {"debug": logging.DEBUG, "information": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
    for event, row in rows.items():
        told = {record.levelno for record in records if vars(record)["event"] == event}
        assert told == {levels[word] for word in re.findall(r"debug|information|warning|error", row[1])}


def test_every_log_field_is_explained() -> None:
    """No field without a meaning, and no meaning without a field."""
    rows = section("Log lines")
    used = {name for row in rows if len(row) == 3 for name in names(row[2])} | {"event"}
    assert used == {name for row in rows if len(row) == 2 for name in names(row[0])}


def test_spans_are_those_of_the_page() -> None:
    """Name, kind and attributes."""
    listener, _ = everything_told()
    found: dict[str, set[str]] = {}
    for span in listener.spans():
        found.setdefault(span.kind.name.lower(), set()).update(span.attributes or {})
    rows = [row for row in section("Traces") if len(row) == 4]
    assert found == {kind: names(attributes) for _, kind, _, attributes in rows}
    assert {span.name for span in listener.spans()} == {
        "process orders",
        "process stock-movements",
        *(f"{operation} orders" for operation in ("read", "read_many", "commit")),
    }
    assert [row[0] for row in rows] == ["`process <queue or hub>`", "`<operation> <container>`"]
