"""The ledger for people and for programs: what was found beside what was expected."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .progress import Progress


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the ledger."""

    what: str
    """In the words of a person."""
    found: float
    """As it was read."""
    expected: float | None
    """By the plan; None when the plan cannot know."""


def differences(rows: Sequence[Row]) -> list[str]:
    """What is not as it has to be, one sentence each; empty when all is well."""
    return [
        f"{row.what}: {row.found:g} found, {row.expected:g} expected"
        for row in rows
        if row.expected is not None and row.found != row.expected
    ]


def table(source: str, rows: Sequence[Row]) -> str:
    """The rows beneath a heading that says where they were read."""
    lines = [f"{source:<44}{'found':>8}{'expected':>10}"]
    for row in rows:
        expected = "" if row.expected is None else _number(row.expected)
        lines.append(f"{row.what:<44}{_number(row.found):>8}{expected:>10}".rstrip())
    return "\n".join(lines)


def verdict(wrong: Sequence[str], progress: Progress) -> int:
    """Say how it went; answer the exit code."""
    for difference in wrong:
        progress.say(f"DIFFERS  {difference}")
    progress.say("Not as it has to be." if wrong else "Nothing lost, nothing doubled.")
    return 1 if wrong else 0


def write_ledger(ledger: Mapping[str, Any], path: Path) -> None:
    """For programs that read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(ledger, indent=2) + "\n", encoding="utf-8")


def _number(value: float) -> str:
    return f"{value:.4g}" if value % 1 else str(value)
