"""What the app said of itself while the story was told. Not evidence: the ledger never asks the app."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from local.stack import Metric, Monitor
from local.stack.monitor import EXPORT_MILLISECONDS

PREFIX = "idempotency."
"""Of the app's own metrics; the runtime tells of processor and memory, too."""

UNITS: Mapping[str, str] = {"duration": "s", "age": "s", "lag": "s", "request_charge": "RU"}
"""By the last word of a metric that measures something; every other counts."""

NOT_SHOWN = ("outcome", "status")
"""Measurements are shown over all of these; counts are shown by them."""

PAUSE_SECONDS = 3 * EXPORT_MILLISECONDS / 1000
"""When for so long nothing new has come, a living app has told all."""

LONGEST_SECONDS = 20.0
"""Something new comes as long as somebody works; at the end of a run nobody does."""

FOOTNOTE = (
    "(Workers that were killed took along what they had not sent yet: in a run this short up to a quarter of a sum,\n"
    "and rows can be missing.)"
)


@dataclass(slots=True)
class Shown:
    """One line of the table."""

    sum: float = 0.0
    count: int = 0
    max: float = 0.0


async def gather(monitor: Monitor, *, pause: float = PAUSE_SECONDS) -> list[Metric]:
    """The app's metrics, once no more come. Raises ControlFailed; TimeoutError when they never stop coming."""
    async with asyncio.timeout(LONGEST_SECONDS):
        known = await _own(monitor)
        while True:
            await asyncio.sleep(pause)
            now = await _own(monitor)
            if now == known:
                return now
            known = now


def table(metrics: Sequence[Metric]) -> str:
    """For people: each metric by what tells it apart."""
    shown: dict[tuple[str, str], Shown] = {}
    for metric in metrics:
        hidden = NOT_SHOWN if _unit(metric.name) else ()
        parts = [value for name, value in metric.attributes.items() if name not in hidden]
        line = shown.setdefault((metric.name.removeprefix(PREFIX), " ".join(parts)), Shown())
        line.sum += metric.sum
        line.count += metric.count
        line.max = max(line.max, metric.max)
    lines = [f"{'told by the app itself':<24}{'':<44}{'count':>8}{'mean':>12}{'greatest':>12}"]
    lines += [f"{name:<24}{which:<44}{_numbers(name, line)}" for (name, which), line in sorted(shown.items())]
    return "\n".join(lines)


async def _own(monitor: Monitor) -> list[Metric]:
    return [metric for metric in await monitor.metrics() if metric.name.startswith(PREFIX)]


def _numbers(name: str, line: Shown) -> str:
    unit = _unit(name)
    if unit is None:
        return f"{line.sum:>8.0f}"
    mean = f"{line.sum / line.count:.3g} {unit}"
    return f"{line.count:>8}{mean:>12}{f'{line.max:.3g} {unit}':>12}"


def _unit(name: str) -> str | None:
    return UNITS.get(name.rpartition(".")[2])
