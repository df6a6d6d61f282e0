"""The log of requests: what was asked, what came of it, what it cost. Round trips are counted here."""

import itertools
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Any

from .faults import RequestSummary

# Enough for the longest run of a demo or benchmark; older entries go, so that a stand-in left running stays small.
ENTRIES_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One request that was carried out or refused."""

    n: int  # running number, in the order of completion
    operation: str  # see RequestSummary
    container: str | None
    partition_key: list[Any] | None
    status: int | None  # None: the connection was cut before anything was decided
    substatus: int  # 0: none
    operations: int  # in a batch; 1 otherwise
    charge: float  # request units
    answered: bool  # False: a fault kept the answer from the client


class Journal:
    """The entries, oldest first."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._entries: deque[Entry] = deque(maxlen=ENTRIES_KEPT)

    def record(
        self, request: RequestSummary, status: int | None, substatus: int, charge: float, answered: bool
    ) -> None:
        self._entries.append(
            Entry(
                n=next(self._numbers),
                operation=request.operation,
                container=request.container,
                partition_key=request.partition_key,
                status=status,
                substatus=substatus,
                operations=request.operations,
                charge=round(charge, 2),
                answered=answered,
            )
        )

    def entries(self, container: str | None = None, operation: str | None = None) -> list[Entry]:
        return [
            entry
            for entry in self._entries
            if container in (None, entry.container) and operation in (None, entry.operation)
        ]

    def as_json(self, container: str | None = None, operation: str | None = None) -> dict[str, Any]:
        """`requests` and, as `totals`, how many there are of each operation."""
        entries = self.entries(container, operation)
        totals = Counter(entry.operation for entry in entries)
        return {"requests": [asdict(entry) for entry in entries], "totals": dict(totals)}

    def clear(self) -> None:
        self._entries.clear()
