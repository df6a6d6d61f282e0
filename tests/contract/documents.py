"""Documents as these tests write them to a store and find them again."""

from typing import Any

from shared.idempotency import Create, Document, Replace, Upsert

from .conftest import Subject


def create(id: str, ttl: int | None = None, **members: Any) -> Create:
    return Create(id, {"id": id, **members}, ttl)


def upsert(id: str, **members: Any) -> Upsert:
    return Upsert(id, {"id": id, **members})


def replace(document: Document, **members: Any) -> Replace:
    return Replace(document.id, {"id": document.id, **members}, document.etag)


async def commit(subject: Subject, *operations: Any) -> None:
    await subject.store.commit(subject.partition, operations)


async def found(subject: Subject, id: str) -> Document:
    document = await subject.store.read(subject.partition, id)
    assert document is not None
    return document


async def body(subject: Subject, id: str) -> dict[str, Any] | None:
    """The members somebody wrote, without the partition that the store adds."""
    document = await subject.store.read(subject.partition, id)
    return {name: value for name, value in document.body.items() if name != "orderId"} if document else None
