"""Transactional batches: all operations or none, with the service's codes."""

import asyncio
from collections import Counter

import pytest
from azure.cosmos.aio import ContainerProxy

from local.cosmos import Cosmos

from .outcomes import OK, ORDER, BatchRefused, Operation, Refused, create, document, ids, outcome

MEGABYTE = 1024 * 1024


@pytest.mark.parametrize("position", [0, 1, 2])
async def test_a_failing_operation_undoes_the_whole_batch(orders: ContainerProxy, position: int) -> None:
    """Wherever the conflict stands in the batch, it gets 409, the others 424, and nothing is written."""
    await orders.create_item(document("taken"))
    operations = [create("a"), create("b")]
    operations.insert(position, create("taken"))

    result = await outcome(orders.execute_item_batch(operations, ORDER))

    codes = tuple(409 if index == position else 424 for index in range(3))
    assert result == BatchRefused(position, codes)
    assert await ids(orders) == ["taken"]


async def test_writes_before_a_failing_last_operation_are_undone(orders: ContainerProxy) -> None:
    """A create, an upsert, a replace, a patch and a delete leave no trace when the operation after them fails."""
    for id_ in ("upserted", "replaced", "patched", "deleted"):
        await orders.create_item(document(id_, version=1))
    before = [item async for item in orders.query_items("SELECT * FROM c", partition_key=ORDER)]

    result = await outcome(
        orders.execute_item_batch(
            [
                create("created"),
                ("upsert", (document("upserted", version=2),)),
                ("replace", ("replaced", document("replaced", version=2))),
                ("patch", ("patched", [{"op": "set", "path": "/version", "value": 2}])),
                ("delete", ("deleted",)),
                ("replace", ("missing", document("missing"))),
            ],
            ORDER,
        )
    )

    assert result == BatchRefused(5, (424, 424, 424, 424, 424, 404))
    assert [item async for item in orders.query_items("SELECT * FROM c", partition_key=ORDER)] == before


async def test_a_refused_batch_does_not_move_the_log(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """The session token after a refused batch is that of the write before it."""
    await orders.create_item(document("taken"))
    container = cosmos.store.catalog.owning_container("retail", "orders")
    before = cosmos.store.position(container, "0")
    await outcome(orders.execute_item_batch([create("a"), create("taken")], ORDER))
    assert cosmos.store.position(container, "0") == before


async def test_results_of_each_operation(orders: ContainerProxy) -> None:
    """A committed batch answers each operation's own code, etag, charge and body, and all share one transaction."""
    await orders.create_item(document("old", n=1))
    results = await orders.execute_item_batch(
        [
            create("new"),
            ("upsert", (document("old", n=2),)),
            ("read", ("old",)),
            ("patch", ("old", [{"op": "incr", "path": "/n", "value": 5}])),
            ("delete", ("new",)),
        ],
        ORDER,
    )
    assert [result["statusCode"] for result in results] == [201, 200, 200, 200, 204]
    assert [result["resourceBody"]["n"] for result in results[1:4]] == [2, 2, 7]
    assert results[0]["eTag"] != results[1]["eTag"]
    assert float(results.get_response_headers()["x-ms-request-charge"]) == pytest.approx(
        sum(result["requestCharge"] for result in results)
    )
    changes = [item["_lsn"] async for item in orders.query_items_change_feed(start_time="Beginning")]
    assert len(changes) == 1


@pytest.mark.parametrize("operation", ["replace", "delete", "upsert", "patch"])
async def test_a_stale_etag_in_a_batch_is_412(orders: ContainerProxy, operation: str) -> None:
    """If-Match inside a batch is honoured by every operation that takes it; the operation before it is undone."""
    stale = (await orders.create_item(document("a", n=1)))["_etag"]
    await orders.replace_item("a", document("a", n=2))
    arguments: dict[str, tuple[object, ...]] = {
        "replace": ("a", document("a", n=3)),
        "delete": ("a",),
        "upsert": (document("a", n=3),),
        "patch": ("a", [{"op": "set", "path": "/n", "value": 3}]),
    }
    batch: list[Operation] = [create("b"), (operation, arguments[operation], {"if_match_etag": stale})]

    assert await outcome(orders.execute_item_batch(batch, ORDER)) == BatchRefused(1, (424, 412))
    assert (await orders.read_item("a", ORDER))["n"] == 2
    assert await ids(orders) == ["a"]


async def test_the_right_etag_in_a_batch_passes(orders: ContainerProxy) -> None:
    """An operation whose etag is the current one is carried out."""
    etag = (await orders.create_item(document("a")))["_etag"]
    batch: list[Operation] = [("replace", ("a", document("a", n=2)), {"if_match_etag": etag})]
    assert await outcome(orders.execute_item_batch(batch, ORDER)) == OK
    assert (await orders.read_item("a", ORDER))["n"] == 2


async def test_racing_batches_have_one_winner(orders: ContainerProxy) -> None:
    """Of 32 concurrent batches with the same marker exactly one is kept, and only its document exists."""
    batches = [
        outcome(orders.execute_item_batch([create(f"document-{n}"), create("marker")], ORDER)) for n in range(32)
    ]
    results = Counter(await asyncio.gather(*batches))
    assert results == {OK: 1, BatchRefused(1, (424, 409)): 31}
    kept = await ids(orders)
    assert len(kept) == 2
    assert "marker" in kept


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, Refused(400)), (1, OK), (100, OK), (101, Refused(400))],
)
async def test_number_of_operations(orders: ContainerProxy, count: int, expected: object) -> None:
    """A batch has between one and a hundred operations."""
    operations = [create(f"{n}") for n in range(count)]
    assert await outcome(orders.execute_item_batch(operations, ORDER)) == expected


async def test_more_than_two_megabytes_is_413(orders: ContainerProxy) -> None:
    """The whole request counts, and nothing of it is written."""
    operations = [create(f"{n}", text="x" * MEGABYTE) for n in range(2)]
    assert await outcome(orders.execute_item_batch(operations, ORDER)) == Refused(413)
    assert await ids(orders) == []


async def test_another_partition_in_a_batch_is_400(orders: ContainerProxy) -> None:
    """A document of another partition refuses the batch."""
    operations = [create("a"), create("b", order="another")]
    assert await outcome(orders.execute_item_batch(operations, ORDER)) == BatchRefused(1, (424, 400))
    assert await ids(orders) == []


async def test_the_same_id_twice_in_a_batch_is_a_conflict(orders: ContainerProxy) -> None:
    """An operation sees what those before it in the same batch did."""
    result = await outcome(orders.execute_item_batch([create("a"), create("a")], ORDER))
    assert result == BatchRefused(1, (424, 409))
    assert await ids(orders) == []


async def test_a_refused_batch_is_charged(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """A conflict costs request units, and a batch's charge is the sum over its operations."""
    await orders.create_item(document("taken"))
    await outcome(orders.execute_item_batch([create("a"), create("taken")], ORDER))
    (entry,) = cosmos.requests.entries("orders", "Batch")
    assert (entry.status, entry.operations, entry.charge) == (207, 2, 1.0)
