"""All that was sent of metrics, added up."""

from dataclasses import dataclass
from typing import Any

from .items import Sample


@dataclass(slots=True)
class _Total:
    sum: float
    count: int
    least: float
    greatest: float


class Totals:
    """One total for each metric and each combination of its attributes."""

    def __init__(self) -> None:
        self._totals: dict[tuple[str, tuple[tuple[str, str], ...]], _Total] = {}

    def add(self, sample: Sample) -> None:
        """Take a sample in."""
        series = (sample.name, tuple(sorted(sample.attributes.items())))
        total = self._totals.get(series)
        if total is None:
            self._totals[series] = _Total(sample.sum, sample.count, sample.least, sample.greatest)
            return
        total.sum += sample.sum
        total.count += sample.count
        total.least = min(total.least, sample.least)
        total.greatest = max(total.greatest, sample.greatest)

    def clear(self) -> None:
        """Begin anew."""
        self._totals.clear()

    def as_json(self) -> list[dict[str, Any]]:
        """By name and attributes."""
        return [
            {
                "name": name,
                "attributes": dict(attributes),
                "sum": total.sum,
                "count": total.count,
                "min": total.least,
                "max": total.greatest,
            }
            for (name, attributes), total in sorted(self._totals.items(), key=lambda entry: entry[0])
        ]
