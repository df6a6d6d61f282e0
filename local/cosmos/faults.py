"""Faults on demand: an answer of choice, a delay, a cut connection, a hold; before or after the work is done."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

_FIRST_STATUS, _LAST_STATUS = 400, 599


class When(StrEnum):
    """Whether a fault strikes before the request is carried out or after."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """What faults and the request log go by."""

    operation: str  # "Batch", "Read", "Query", … on items; "ReadContainer", … elsewhere
    on_items: bool  # whether it concerns items rather than databases or containers
    container: str | None  # its name
    partition_key: list[Any] | None  # components
    operations: int  # in a batch; 1 otherwise


@dataclass(frozen=True, slots=True)
class Fault:
    """One rule. Absent conditions match every request on items; effects combine in this order: hold, delay, then
    drop or status."""

    operation: str | None = None  # the kind of request, as in `RequestSummary`
    container: str | None = None  # its container's name
    partition_key: str | int | float | bool | None = None  # first component of its partition key
    times: int = 1  # how many requests it strikes
    when: When = When.BEFORE  # AFTER: the work is done and kept
    status: int | None = None  # answer with this status instead
    substatus: int = 0  # with this sub-status
    retry_after_ms: int | None = None  # and this x-ms-retry-after-ms
    operation_index: int | None = None  # in a batch: refuse only this operation, with `status`, inside a 207
    delay_ms: float = 0  # wait so long
    drop: bool = False  # cut the connection instead of answering
    hold: bool = False  # wait until released

    def __post_init__(self) -> None:
        if self.status is None and not (self.drop or self.hold or self.delay_ms):
            raise ValueError("a fault needs an effect: status, drop, delay_ms or hold")
        if self.status is not None and (self.drop or not _FIRST_STATUS <= self.status <= _LAST_STATUS):
            raise ValueError("status goes from 400 to 599, and not together with drop")
        if self.status is None and (self.substatus or self.retry_after_ms is not None):
            raise ValueError("substatus and retry_after_ms need a status")
        if self.operation_index is not None:
            in_batch = self.operation in (None, "Batch") and self.status is not None and self.when is When.BEFORE
            if not in_batch or self.operation_index < 0:
                raise ValueError("operation_index needs a status and a batch that is not carried out")
        if self.times < 1 or not math.isfinite(self.delay_ms) or self.delay_ms < 0:
            raise ValueError("times is at least 1 and delay_ms at least 0")

    @classmethod
    def of(cls, body: Any) -> "Fault":
        """From JSON. ValueError for anything that would not do what it says."""
        if not isinstance(body, Mapping):
            raise ValueError("a fault is a JSON object")
        types = {field.name: field.type for field in fields(cls)}
        for name, value in body.items():
            if name not in types:
                raise ValueError(f"a fault has no member '{name}'; it has {', '.join(types)}")
            expected = (int, float) if types[name] is float else types[name]  # JSON writes 50 for 50.0
            if name != "when" and not isinstance(value, expected):  # type: ignore[arg-type]
                raise ValueError(f"'{name}' of a fault cannot be {value!r}")
        return cls(**{**body, "when": When(body.get("when", When.BEFORE))})

    def matches(self, request: RequestSummary) -> bool:
        if self.operation is None and not request.on_items:
            return False
        if self.operation not in (None, request.operation) or self.container not in (None, request.container):
            return False
        if self.operation_index is not None:
            return request.operation == "Batch" and self.operation_index < request.operations
        return self.partition_key is None or self.partition_key in (request.partition_key or [])[:1]


class Faults:
    """The rules in force, oldest first; each request meets one at most."""

    def __init__(self) -> None:
        self._left: list[tuple[Fault, int]] = []

    def add(self, fault: Fault) -> None:
        self._left.append((fault, fault.times))

    def clear(self) -> None:
        self._left.clear()

    def take(self, request: RequestSummary) -> Fault | None:
        """The first rule that matches; it is used up by one."""
        for position, (fault, left) in enumerate(self._left):
            if fault.matches(request):
                self._left[position : position + 1] = [(fault, left - 1)] if left > 1 else []
                return fault
        return None

    def pending(self) -> list[dict[str, Any]]:
        """As JSON, with the number of requests each rule will still strike as `times`."""
        return [{**asdict(fault), "times": left} for fault, left in self._left]
