"""The store: reads, single writes, and the transactional batch.

Everything between the beginning and the end of a transaction happens without an `await`, so no two transactions
interleave. A batch is one transaction with one log sequence number: all of its operations, or none.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from .catalog import Catalog
from .clock import Clock
from .container import Container
from .errors import CosmosError
from .identifiers import Etags
from .items import Items, Scope
from .offers import Offers
from .operations import Applied, Kind, Operation, Operations
from .storage import transaction

FAILED_DEPENDENCY = 424  # "Transactional batch operations": every operation but the one that failed
# The service deletes expired items in the background with spare request units; a client never sees when.
PURGE_GRACE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Position:
    """Where in the log of a key range an answer stands."""

    range_id: str
    lsn: int

    @property
    def session_token(self) -> str:
        return f"{self.range_id}:-1#{self.lsn}"


@dataclass(frozen=True, slots=True)
class Batch:
    """The answer to a transactional batch."""

    committed: bool
    results: tuple[Applied | CosmosError | None, ...]  # None: another operation failed, so this one was not done


class Store:
    """One account's data."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        etags = Etags()
        self._connection = connection
        self.catalog = Catalog(connection, clock, etags)
        self.items = Items(connection, clock)
        self.offers = Offers(connection, clock, etags)
        self._operations = Operations(self.items, clock, etags)

    def position(self, container: Container, range_id: str) -> Position:
        return Position(range_id, self.catalog.lsn(container, range_id))

    def read(self, container: Container, partition_key: str, operation: Operation) -> Applied:
        return self._operations.apply(container, partition_key, operation, lsn=0)

    def write(self, container: Container, partition_key: str, operation: Operation) -> Applied:
        """One write as a transaction of its own. CosmosError if refused; nothing is written then."""
        (applied,) = self._transact(container, partition_key, [operation], [])
        return applied

    def batch(self, container: Container, partition_key: str, operations: Sequence[Operation]) -> Batch:
        """All operations in order, or none of them."""
        done: list[Applied] = []
        try:
            self._transact(container, partition_key, operations, done)
        except CosmosError as refusal:
            after = len(operations) - len(done) - 1
            return Batch(False, (*[None] * len(done), refusal, *[None] * after))
        return Batch(True, tuple(done))

    def delete_partition(self, container: Container, partition_key: str) -> None:
        """Everything with one partition key value."""
        for item in self.items.scan(container, Scope(partition_key=partition_key)):
            self.write(container, partition_key, Operation(Kind.DELETE, item.id))

    def purge(self) -> int:
        """Delete rows that expired a while ago; returns how many. Nobody sees the difference."""
        with transaction(self._connection):
            return sum(self.items.purge(container, PURGE_GRACE_SECONDS) for container in self.catalog.containers())

    def _transact(
        self, container: Container, partition_key: str, operations: Sequence[Operation], done: list[Applied]
    ) -> list[Applied]:
        range_id = container.range_of(partition_key).id
        lsn = self.catalog.lsn(container, range_id) + 1
        with transaction(self._connection):
            for operation in operations:
                done.append(self._operations.apply(container, partition_key, operation, lsn))
            if any(operation.kind is not Kind.READ for operation in operations):
                self.catalog.set_lsn(container, range_id, lsn)
        return done
