"""The whole deployment as it stands in the repository."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .bicep import BicepFile, Expression, Value, read

ROOT = Path(__file__).parents[3]
INFRA = ROOT / "infra"


@cache
def files() -> Mapping[str, BicepFile]:
    """Every Bicep file, by its name without the suffix."""
    return {path.stem: read(path) for path in sorted(INFRA.rglob("*.bicep"))}


@cache
def topology() -> Any:
    """The entities that app and deployment share."""
    return json.loads((ROOT / "shared" / "topology.json").read_text())


def at(value: Any, path: str) -> Value:
    """What is found in nested objects under a path such as `properties.disableLocalAuth`; None where nothing is."""
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def text(value: Value) -> str:
    """An expression as it is written, a text as it is."""
    return value.text if isinstance(value, Expression) else str(value)
