"""The table of items. Expired ones are invisible to every question asked here, whether or not they were purged yet."""

import itertools
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from .clock import Clock
from .container import Container
from .item import COLUMNS, Item

# "Time to Live (TTL) in Azure Cosmos DB": a container without defaultTtl ignores the TTL of its items; an item's own
# TTL wins over the default; -1 means never. This condition is the one place that decides whether an item is there.
_LIVE = """(:default_ttl IS NULL OR CASE
    WHEN ttl IS NULL THEN :default_ttl = -1 OR written_at + :default_ttl > :now
    ELSE ttl = -1 OR written_at + ttl > :now END)"""
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM items WHERE container = :container AND {_LIVE}"  # noqa: S608 - constants
_INSERT = f"INSERT OR REPLACE INTO items(container, {', '.join(COLUMNS)}) VALUES({', '.join('?' * (len(COLUMNS) + 1))})"
_PURGE = f"DELETE FROM items WHERE container = :container AND NOT {_LIVE}"  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Scope:
    """Which part of a container is read; everything None means all of it."""

    partition_key: str | None = None  # canonical value
    range_id: str | None = None  # partition key range
    low: str | None = None  # first effective partition key inside
    high: str | None = None  # first one outside
    id: str | None = None  # one item id

    def conditions(self) -> str:
        parts = []
        if self.partition_key is not None:
            parts.append("AND partition_key = :partition_key")
        if self.range_id is not None:
            parts.append("AND range_id = :range_id")
        if self.low is not None:
            parts.append("AND effective_key >= :low AND effective_key < :high")
        if self.id is not None:
            parts.append("AND id = :id")
        return " ".join(parts)

    def parameters(self) -> dict[str, str | None]:
        names = {"partition_key": self.partition_key, "range_id": self.range_id}
        return {**names, "low": self.low, "high": self.high, "id": self.id}


class Items:
    """Reads and writes of single rows. Transactions are the caller's."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        last = connection.execute("SELECT MAX(number), MAX(version) FROM items").fetchone()
        self._numbers, self._versions = (itertools.count((value or 0) + 1) for value in last)

    def next_number(self) -> int:
        return next(self._numbers)

    def next_version(self) -> int:
        return next(self._versions)

    def get(self, container: Container, partition_key: str, id_: str) -> Item | None:
        scope = Scope(partition_key=partition_key, id=id_)
        return next(self._select(container, scope), None)

    def put(self, container: Container, item: Item) -> None:
        values = [getattr(item, column) for column in COLUMNS]
        self._connection.execute(_INSERT, (container.rid, *values))
        if container.unique_keys:
            self._forget_unique(container, item.partition_key, item.id)

    def remove(self, container: Container, partition_key: str, id_: str) -> None:
        query = "DELETE FROM items WHERE container = ? AND partition_key = ? AND id = ?"
        self._connection.execute(query, (container.rid, partition_key, id_))
        if container.unique_keys:
            self._forget_unique(container, partition_key, id_)

    def by_number(self, container: Container, partition_key: str, number: int) -> Item | None:
        scope = Scope(partition_key=partition_key)
        return next(self._select(container, scope, "AND number = :number", number=number), None)

    def scan(self, container: Container, scope: Scope, after: int = 0, limit: int = -1) -> list[Item]:
        """Items in the order of their numbers, from the one after `after`; -1 means no limit."""
        tail = "AND number > :after ORDER BY number LIMIT :limit"
        return list(self._select(container, scope, tail, after=after, limit=limit))

    def changes(self, container: Container, scope: Scope, after_lsn: int, since: float) -> Iterator[Item]:
        """Items written after an LSN and not before `since` (seconds since 1970), oldest change first."""
        tail = "AND lsn > :after_lsn AND written_at >= :since ORDER BY lsn, version"
        return self._select(container, scope, tail, after_lsn=after_lsn, since=since)

    def purge(self, container: Container, grace: float) -> int:
        """Delete what expired more than `grace` seconds ago; the number of rows that went."""
        parameters = {"container": container.rid, "default_ttl": container.default_ttl}
        return self._connection.execute(_PURGE, {**parameters, "now": self._clock.now() - grace}).rowcount

    def holder_of_unique(self, container: Container, partition_key: str, key: int, value: str) -> Item | None:
        """The live item that has this value of the container's `key`-th unique key."""
        query = "SELECT id FROM unique_values WHERE container = ? AND partition_key = ? AND key = ? AND value = ?"
        row = self._connection.execute(query, (container.rid, partition_key, key, value)).fetchone()
        return self.get(container, partition_key, row[0]) if row else None

    def remember_unique(self, container: Container, partition_key: str, key: int, value: str, id_: str) -> None:
        values = (container.rid, partition_key, key, value, id_)
        self._connection.execute("INSERT OR REPLACE INTO unique_values VALUES(?, ?, ?, ?, ?)", values)

    def _forget_unique(self, container: Container, partition_key: str, id_: str) -> None:
        query = "DELETE FROM unique_values WHERE container = ? AND partition_key = ? AND id = ?"
        self._connection.execute(query, (container.rid, partition_key, id_))

    def _select(self, container: Container, scope: Scope, tail: str = "", **more: float) -> Iterator[Item]:
        fixed = {"container": container.rid, "default_ttl": container.default_ttl, "now": self._clock.now()}
        rows = self._connection.execute(
            f"{_SELECT} {scope.conditions()} {tail}",  # constants and names of parameters only
            {**fixed, **scope.parameters(), **more},
        )
        return (Item(*row) for row in rows)
