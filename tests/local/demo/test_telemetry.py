"""The app's own metrics as the demo shows them."""

from collections.abc import Iterator

from local.demo.telemetry import gather, table
from local.stack import Metric


def deliveries(count: float, outcome: str = "processed") -> Metric:
    return Metric("idempotency.deliveries", {"consumer": "place_order", "outcome": outcome}, count, 3, count)


def duration(seconds: float, count: int, outcome: str) -> Metric:
    attributes = {"consumer": "place_order", "outcome": outcome}
    return Metric("idempotency.delivery.duration", attributes, seconds, count, seconds)


def test_counts_are_shown_by_outcome_and_measurements_over_all() -> None:
    """A count that hides a failure says nothing; a duration by outcome is more than a screen holds."""
    shown = table([deliveries(7), deliveries(1, "failed"), duration(1.0, 3, "processed"), duration(3.0, 1, "failed")])
    assert [line.split() for line in shown.splitlines()[1:]] == [
        ["deliveries", "place_order", "failed", "1"],
        ["deliveries", "place_order", "processed", "7"],
        ["delivery.duration", "place_order", "4", "1", "s", "3", "s"],
    ]


async def test_what_still_comes_is_waited_for() -> None:
    """A worker sends now and then; what the processor does in between does not count."""

    class Monitor:
        def __init__(self) -> None:
            self._answers: Iterator[float] = iter([1, 2, 2])

        async def metrics(self) -> list[Metric]:
            count = next(self._answers)
            return [deliveries(count), Metric("\\Processor", {}, count, 1, count)]

    assert await gather(Monitor(), pause=0) == [deliveries(2)]  # type: ignore[arg-type]
