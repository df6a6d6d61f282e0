"""Documents and markers in Azure Cosmos DB for NoSQL, committed together in one transactional batch.

A commit is one request. The SDK repeats little here (see `cosmos_account`), and its batch layer repeats nothing: what
time may heal is the consumer's to wait out, with the marker telling apart a lost answer and somebody else's commit.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azure.core.exceptions import AzureError
from azure.cosmos.aio import ContainerProxy

from ..idempotency import Clock, Create, Delete, Document, Hook, Operation, Replace, SystemClock, Upsert, silent
from .cosmos_errors import commit_failure, is_absence, read_failure, status_of
from .cosmos_round_trips import RoundTrips
from .items import Intake, Item, Limits, check_id, check_ids, check_partition, document_of, has_expired

_READ_SECONDS = 5.0
"""Point reads take milliseconds; one that takes this long is better asked again."""
_COMMIT_SECONDS = 10.0
"""The service ends a batch after 5 s ("Transactional batch operations"); twice that, and far below a lock of 60 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CosmosStore:
    """A `Store` over one container.

    Expiry is judged by `clock` as well as by the database. Where they differ, a document is gone as soon as either says
    so; a create that still meets it is then a conflict whose marker cannot be read, which the consumer waits out. The
    difference is seconds and retention is days.
    """

    container: ContainerProxy
    """Of an open client, checked with `open_container`."""
    partition_property: str
    """The container's partition key path without its slash, such as `orderId`. The store writes it into documents."""
    clock: Clock = field(default_factory=SystemClock)
    """Judges expiry and measures calls."""
    hook: Hook = silent
    """Told of every round trip."""
    read_seconds: float = _READ_SECONDS
    """A read without an answer by then is a `TransientFailure`."""
    commit_seconds: float = _COMMIT_SECONDS
    """A commit without an answer by then is `Doubtful`."""

    async def read(self, partition: str, id: str, *, bookmark: str | None = None) -> Document | None:
        """As `Store.read`. `bookmark` is a session token, which the SDK would not carry over from a batch by itself."""
        check_partition(partition)
        check_id(id)
        trips = RoundTrips("read", self.container.id, self.clock)
        try:
            async with asyncio.timeout(self.read_seconds):
                item = await self.container.read_item(id, partition, session_token=bookmark, **trips.hooks)
        except (AzureError, OSError) as error:
            if is_absence(error):
                return None
            if failure := read_failure(error):
                raise failure from error
            raise
        finally:
            trips.report(self.hook)
        if has_expired(item, item["_ts"], self.clock.now().timestamp()):
            return None
        return document_of(item, item["_etag"])

    async def read_many(
        self, partition: str, ids: Sequence[str], *, bookmark: str | None = None
    ) -> Mapping[str, Document]:
        """As `Store.read_many`: a query inside the partition, which ids answer from the index."""
        check_ids(partition, ids)
        names = [f"@id{position}" for position in range(len(ids))]
        trips = RoundTrips("read_many", self.container.id, self.clock)
        try:
            async with asyncio.timeout(self.read_seconds):
                found = self.container.query_items(
                    f"SELECT * FROM c WHERE c.id IN ({', '.join(names)})",  # noqa: S608 - names of parameters only
                    parameters=[{"name": name, "value": id} for name, id in zip(names, ids, strict=True)],
                    partition_key=partition,
                    session_token=bookmark,
                    max_item_count=len(ids),
                    **trips.hooks,
                )
                items = [item async for item in found]
        except (AzureError, OSError) as error:
            if failure := read_failure(error):
                raise failure from error
            raise
        finally:
            trips.report(self.hook)
        now = self.clock.now().timestamp()
        return {
            item["id"]: document_of(item, item["_etag"]) for item in items if not has_expired(item, item["_ts"], now)
        }

    async def commit(self, partition: str, operations: Sequence[Operation]) -> None:
        """As `Store.commit`."""
        items = Intake(self.partition_property, Limits()).items(partition, operations)
        batch = [_sdk_operation(operation, item) for operation, item in zip(operations, items, strict=True)]
        trips = RoundTrips("commit", self.container.id, self.clock)
        decided: int | None = None
        try:
            async with asyncio.timeout(self.commit_seconds):
                await self.container.execute_item_batch(batch, partition, **trips.hooks)
        except (AzureError, OSError) as error:
            decided = status_of(error)
            if failure := commit_failure(error, sent=trips.sent):
                raise failure from error
            raise
        finally:
            trips.report(self.hook, decided)


def _sdk_operation(operation: Operation, item: Item | None) -> tuple[Any, ...]:
    """Made anew for every commit: the SDK takes the etag out of what it is given."""
    body = item.body if item else None
    match operation:
        case Create():
            return ("create", (body,))
        case Upsert():
            return ("upsert", (body,))
        case Replace(id=id, etag=etag):
            return ("replace", (id, body), {"if_match_etag": etag})
        case Delete(id=id, etag=etag):
            return ("delete", (id,), {"if_match_etag": etag})
