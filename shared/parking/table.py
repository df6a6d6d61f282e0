"""Parked events in Azure Table storage, one row each; what a row cannot hold is in blobs, written first.

docs/decisions/0004-parking.md says why. Status codes and error classes decide, never the text of a message.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)

from ..idempotency import TransientFailure
from ..transports.parking import ParkedEvent
from .rows import Row, row_of
from .storage_account import Clients

_SECONDS = 10.0
"""For a write of at most 1 MB, which takes tens of milliseconds: one that takes longer is better begun anew."""
_REFUSED = frozenset({400, 405, 411, 412, 413, 414, 416})
"""The request itself is wrong and would be refused again: a programmer must look. Any other failure passes, or a person
mends it while the events wait: a role not yet assigned, a firewall, a table that is just being deleted."""


class TableParkingLot:
    """A `ParkingLot` in a storage account. Opened by the first event that comes; belongs to one event loop.

    Table and container are made when a write finds them missing.
    """

    def __init__(self, connect: Callable[[], Clients], *, seconds: float = _SECONDS) -> None:
        """`connect` may raise `TransientFailure`; the next event tries again. `seconds`: for each write."""
        self._connect = connect
        self._seconds = seconds
        self._clients: Clients | None = None

    async def park(self, event: ParkedEvent) -> bool:
        """As `ParkingLot.park`."""
        if self._clients is None:
            self._clients = self._connect()
        row = row_of(event)
        for name, content in row.blobs.items():
            await self._write_blob(self._clients, name, content)
        return await self._write_row(self._clients, row)

    async def close(self) -> None:
        """Give the connections back. A worker keeps them for life; a test does not."""
        if self._clients:
            await self._clients.close()

    async def _write_blob(self, clients: Clients, name: str, content: bytes) -> None:
        async with self._deadline("blob"):
            # Names follow from the content: whatever is overwritten is the same.
            try:
                await clients.container.upload_blob(name, content, overwrite=True)
            except ResourceNotFoundError:
                with suppress(ResourceExistsError):  # another worker was faster
                    await clients.container.create_container()
                await clients.container.upload_blob(name, content, overwrite=True)

    async def _write_row(self, clients: Clients, row: Row) -> bool:
        async with self._deadline("row"):
            try:
                return await _insert(clients, row)
            except ResourceNotFoundError:
                with suppress(ResourceExistsError):  # another worker was faster
                    await clients.table.create_table()
                return await _insert(clients, row)

    @asynccontextmanager
    async def _deadline(self, what: str) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._seconds):
                yield
        except (AzureError, OSError) as error:
            status = error.status_code if isinstance(error, HttpResponseError) else None
            if status in _REFUSED and not isinstance(error, ClientAuthenticationError):
                raise
            told = f"status {status}" if status else f"no answer ({type(error).__name__})"
            raise TransientFailure(f"The {what} of a parked event was not written: {told}.") from error


async def _insert(clients: Clients, row: Row) -> bool:
    """Write the row unless it is there: what people noted on it stays. Answers whether it was written.

    A conflict alone does not say that it is there, for a table that is being deleted answers 409 as well.
    """
    try:
        await clients.table.create_entity(row.entity)
    except ResourceExistsError:
        await clients.table.get_entity(row.entity["PartitionKey"], row.entity["RowKey"], select=["RowKey"])
        return False
    return True
