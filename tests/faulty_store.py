"""A store that fails as told, around one that works."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from shared.idempotency import Document, Doubtful, Operation, Store

type Step = Callable[[], Awaitable[None]] | Exception | str
"""An exception is raised instead of the call; "lose the answer" commits and then loses it; a coroutine function runs
first and the call goes on."""


class FaultyStore:
    """Steps are used up one a call; without any the calls go through. Every call is counted."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.on_commit: list[Step] = []
        self.on_read: list[Step] = []
        self.calls: list[str] = []
        self.bookmarks: list[str | None] = []

    async def read(self, partition: str, id: str, *, bookmark: str | None = None) -> Document | None:
        self.calls.append("read")
        self.bookmarks.append(bookmark)
        await self._obey(self.on_read)
        return await self.inner.read(partition, id, bookmark=bookmark)

    async def read_many(
        self, partition: str, ids: Sequence[str], *, bookmark: str | None = None
    ) -> Mapping[str, Document]:
        self.calls.append("read_many")
        self.bookmarks.append(bookmark)
        await self._obey(self.on_read)
        return await self.inner.read_many(partition, ids, bookmark=bookmark)

    async def commit(self, partition: str, operations: Sequence[Operation]) -> None:
        self.calls.append("commit")
        step = await self._obey(self.on_commit)
        await self.inner.commit(partition, operations)
        if step == "lose the answer":
            raise Doubtful("the connection broke")

    async def _obey(self, steps: list[Step]) -> Step | None:
        if not steps:
            return None
        step = steps.pop(0)
        if isinstance(step, Exception):
            raise step
        if callable(step):
            await step()
        return step
