"""One telemetry item as it comes over the wire, checked and told apart.

Sources: the ingestion API's schema as Microsoft publishes it (azure-rest-api-specs, "Application Insights, v2.1
swagger") and the data contracts behind it ("ApplicationInsights-Home, EndpointSpecs/Schemas").
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

# days.hours:minutes:seconds.fraction, days and fraction may be missing (.NET's TimeSpan)
_DURATION = re.compile(r"(?:(\d+)\.)?(\d+):(\d\d):(\d\d)(\.\d+)?")
# What people call the levels 0 to 4 (SeverityLevel).
_LEVELS = ("verbose", "information", "warning", "error", "critical")
_LEVEL_NAMES = {name.casefold(): name for name in _LEVELS}


class Refused(Exception):
    """The service would not take the item; the text says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was added to a metric since the last time."""

    name: str
    attributes: Mapping[str, str]
    sum: float
    count: int
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class Line:
    """A span or a log line, ready to be written: its members in the order in which people read them."""

    log: bool
    members: Mapping[str, Any]


def items_in(item: Any, key: str) -> list[Sample | Line]:
    """What an item tells. Raises Refused when it is no telemetry item, or not for this key."""
    match item:
        case {
            "name": str(),
            "time": str(time),
            "iKey": str(given),
            "data": {"baseType": str(kind), "baseData": dict(data)},
        }:
            pass
        case _:
            raise Refused("Field 'name', 'time', 'iKey' or 'data' is missing or has the wrong type.")
    if given != key:
        raise Refused("Invalid instrumentation key.")
    try:
        moment = datetime.fromisoformat(time)
        tags = item.get("tags") or {}
        match kind:
            case "MetricData":
                return [_sample(metric, data.get("properties") or {}) for metric in data["metrics"]]
            case "RequestData" | "RemoteDependencyData":
                return [_span(kind, moment, tags, data)]
            case "MessageData" | "ExceptionData":
                return [_log(moment, tags, data)]
            case "EventData" | "AvailabilityData" | "PageViewData":
                raise Refused(f"{kind} is not supported by this stand-in.")
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Refused(f"{kind} is not what its contract says: {error!r}") from error
    raise Refused(f"Unexpected baseType '{kind}'.")


def _sample(metric: Mapping[str, Any], attributes: Mapping[str, str]) -> Sample:
    value = float(metric["value"])
    # A counter says only how much; it counts as one measurement.
    least, greatest = (value if metric.get(name) is None else float(metric[name]) for name in ("min", "max"))
    count = metric.get("count")
    return Sample(metric["name"], dict(attributes), value, 1 if count is None else int(count), least, greatest)


def _span(kind: str, moment: datetime, tags: Mapping[str, str], data: Mapping[str, Any]) -> Line:
    attributes = dict(data.get("properties") or {})
    links = [f"{link['operation_Id']} {link['id']}" for link in json.loads(attributes.pop("_MS.links", "[]"))]
    return Line(
        False,
        {
            "time": moment.isoformat(timespec="milliseconds"),
            "trace": tags["ai.operation.id"],
            "span": data["id"],
            "parent": tags.get("ai.operation.parentId"),
            "kind": "request" if kind == "RequestData" else "dependency",
            "name": data["name"],
            "ms": round(_seconds(data["duration"]) * 1000, 3),
            "ok": bool(data["success"]),
            "attributes": attributes,
            "links": links,
        },
    )


def _log(moment: datetime, tags: Mapping[str, str], data: Mapping[str, Any]) -> Line:
    exceptions = data.get("exceptions")
    text = exceptions[0]["message"] if exceptions else data["message"]
    return Line(
        True,
        {
            "time": moment.isoformat(timespec="milliseconds"),
            "trace": tags.get("ai.operation.id"),
            "span": tags.get("ai.operation.parentId"),
            "level": _level(data.get("severityLevel")),
            "text": text,
            "fields": dict(data.get("properties") or {}),
        },
    )


def _level(value: str | int | None) -> str:
    if isinstance(value, int):
        return _LEVELS[value]
    return _LEVEL_NAMES[(value or "verbose").casefold()]


def _seconds(duration: str) -> float:
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise ValueError(f"no duration: {duration!r}")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds + float(match.group(5) or 0)
