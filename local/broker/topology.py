"""What readers of the topology file share: the file, its durations, and the error of one that cannot be had."""

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

DURATION = re.compile(r"P(?=\d|T\d)(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


class TopologyError(ValueError):
    """The topology asks for something that the service, or its stand-in, does not have."""


def read_document(topology: Path | Mapping[str, Any]) -> Mapping[str, Any]:
    """The content of a topology file; a content that is given already is passed on.

    Raises TopologyError when the file holds no JSON object, OSError when it cannot be read.
    """
    if not isinstance(topology, Path):
        return topology
    try:
        content = json.loads(topology.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TopologyError(f"{topology} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise TopologyError(f"{topology} holds no JSON object")
    return content


def parse_duration(text: str) -> timedelta:
    """An ISO 8601 duration of days, hours, minutes and seconds; raises TopologyError."""
    match = DURATION.fullmatch(text)
    if match is None:
        raise TopologyError(f"{text!r} is not an ISO 8601 duration of days, hours, minutes and seconds")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
