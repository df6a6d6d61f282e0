"""A store that is opened by the first call that needs it, so that a failed start is waited out like any outage.

Opening at the start of the process would make a database that is down, or a setting that is missing, fail every
invocation at once: the broker would deliver each message ten times within seconds and dead-letter the whole queue.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from ..idempotency import Document, Operation, Store


class LateStore:
    """A `Store` in front of one that may not be open yet. Belongs to one event loop."""

    def __init__(self, open_store: Callable[[], Coroutine[Any, Any, Store]]) -> None:
        """`open_store` raises `TransientFailure` when it cannot; the next call tries again."""
        self._open_store = open_store
        self._opening: asyncio.Task[Store] | None = None

    async def read(self, partition: str, id: str, *, bookmark: str | None = None) -> Document | None:
        """As `Store.read`."""
        store = await self._opened()
        return await store.read(partition, id, bookmark=bookmark)

    async def read_many(
        self, partition: str, ids: Sequence[str], *, bookmark: str | None = None
    ) -> Mapping[str, Document]:
        """As `Store.read_many`."""
        store = await self._opened()
        return await store.read_many(partition, ids, bookmark=bookmark)

    async def commit(self, partition: str, operations: Sequence[Operation]) -> None:
        """As `Store.commit`."""
        store = await self._opened()
        await store.commit(partition, operations)

    async def _opened(self) -> Store:
        """All that wait share one attempt: none waits longer than it takes, and none is cancelled for another."""
        if self._opening is None or _failed(self._opening):
            self._opening = asyncio.create_task(self._open_store())
        return await asyncio.shield(self._opening)


def _failed(attempt: asyncio.Task[Store]) -> bool:
    return attempt.done() and (attempt.cancelled() or attempt.exception() is not None)
