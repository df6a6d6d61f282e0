"""The change feed: order, pages, resuming."""

from typing import Any

from azure.cosmos.aio import ContainerProxy

from .outcomes import ORDER, create, document


async def changes(container: ContainerProxy, **options: Any) -> list[str]:
    return [item["id"] async for item in container.query_items_change_feed(**options)]


async def test_latest_versions_in_the_order_of_writing(orders: ContainerProxy) -> None:
    """Each live item appears once, where it was last written; deleted ones do not."""
    for id_ in ("a", "b", "c"):
        await orders.create_item(document(id_))
    await orders.upsert_item(document("a", n=2))
    await orders.delete_item("b", ORDER)
    assert await changes(orders, start_time="Beginning") == ["c", "a"]
    assert await changes(orders, start_time="Beginning", partition_key=ORDER) == ["c", "a"]
    assert await changes(orders, start_time="Beginning", partition_key="another") == []


async def test_a_page_never_splits_a_transaction(orders: ContainerProxy) -> None:
    """With pages of two, the five documents of a batch still come together."""
    for batch in range(3):
        await orders.execute_item_batch([create(f"{batch}-{n}") for n in range(5)], ORDER)
    pages = orders.query_items_change_feed(start_time="Beginning", partition_key=ORDER, max_item_count=2).by_page()
    sizes = [len([item async for item in page]) async for page in pages]
    assert [size for size in sizes if size] == [5, 5, 5]


async def test_a_continuation_brings_only_what_is_new(orders: ContainerProxy) -> None:
    """The token of one reading starts the next."""
    await orders.execute_item_batch([create("a"), create("b")], ORDER)
    pages = orders.query_items_change_feed(start_time="Beginning", partition_key=ORDER).by_page()
    assert [item["id"] async for page in pages async for item in page] == ["a", "b"]
    token = pages.continuation_token
    assert await changes(orders, continuation=token) == []
    await orders.upsert_item(document("a", n=2))
    assert await changes(orders, continuation=token) == ["a"]


async def test_from_now_on(orders: ContainerProxy) -> None:
    """A feed that starts now does not show the past."""
    await orders.create_item(document("past"))
    assert await changes(orders, start_time="Now", partition_key=ORDER) == []
    token = orders.client_connection.last_response_headers["etag"]  # where the SDK leaves it after an empty feed
    await orders.create_item(document("future"))
    assert await changes(orders, continuation=token) == ["future"]
