"""Single items: codes, etags, limits, partition keys, charges."""

import pytest
from azure.core import MatchConditions
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient

from local.cosmos import Cosmos

from .outcomes import OK, ORDER, BatchRefused, Refused, create, document, ids, outcome

KILOBYTE = 1024
MEGABYTE = 1024 * 1024


async def test_codes_of_plain_operations(orders: ContainerProxy) -> None:
    """What is there conflicts with a create; what is not there is 404 to everything else."""
    assert await outcome(orders.read_item("a", ORDER)) == Refused(404)
    assert await outcome(orders.replace_item("a", document("a"))) == Refused(404)
    assert await outcome(orders.delete_item("a", ORDER)) == Refused(404)
    assert await outcome(orders.create_item(document("a"))) == OK
    assert await outcome(orders.create_item(document("a"))) == Refused(409)
    assert await outcome(orders.upsert_item(document("a", n=1))) == OK
    assert (await orders.read_item("a", ORDER))["n"] == 1
    assert await outcome(orders.delete_item("a", ORDER)) == OK
    assert await outcome(orders.read_item("a", ORDER)) == Refused(404)


async def test_etags_guard_single_writes(orders: ContainerProxy) -> None:
    """If-Match with an old etag is 412 for replace, upsert, patch and delete; every write gives a new etag."""
    old = await orders.create_item(document("a"))
    new = await orders.upsert_item(document("a", n=1))
    assert old["_etag"] != new["_etag"]
    only_if_old = {"etag": old["_etag"], "match_condition": MatchConditions.IfNotModified}
    patch = [{"op": "set", "path": "/n", "value": 2}]
    assert await outcome(orders.replace_item("a", document("a"), **only_if_old)) == Refused(412)
    assert await outcome(orders.upsert_item(document("a"), **only_if_old)) == Refused(412)
    assert await outcome(orders.patch_item("a", ORDER, patch, **only_if_old)) == Refused(412)
    assert await outcome(orders.delete_item("a", ORDER, **only_if_old)) == Refused(412)
    assert (await orders.read_item("a", ORDER))["n"] == 1


async def test_reading_what_has_not_changed_is_304(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """If-None-Match with the current etag answers 304 to a read (the SDK shows it as an empty item)."""
    etag = (await orders.create_item(document("a")))["_etag"]
    unchanged = await orders.read_item("a", ORDER, etag=etag, match_condition=MatchConditions.IfModified)
    assert dict(unchanged) == {}
    assert cosmos.requests.entries("orders", "Read")[-1].status == 304


@pytest.mark.parametrize("id_", ["a/b", "a\\b", "a#b", "a?b", "", "é" * 512])
async def test_ids_that_the_service_refuses(orders: ContainerProxy, id_: str) -> None:
    """No slash, backslash, hash or question mark; not empty; at most 1023 bytes. (The SDK lets them into batches.)"""
    assert await outcome(orders.execute_item_batch([create(id_)], ORDER)) == BatchRefused(0, (400,))


@pytest.mark.parametrize("id_", ["with space", "ä-ö", "%41", "a+b&c=d", "x" * 1023])
async def test_odd_ids_that_the_service_takes(orders: ContainerProxy, id_: str) -> None:
    """What can be created can be read, in a URL too."""
    await orders.create_item(document(id_))
    assert (await orders.read_item(id_, ORDER))["id"] == id_


@pytest.mark.parametrize("body", [{"id": "\ud800", "orderId": ORDER}, {"id": "a", "orderId": "\ud800"}])
async def test_names_that_are_no_unicode(orders: ContainerProxy, body: dict[str, str]) -> None:
    """A lone surrogate cannot be part of an id or a partition key; elsewhere it is kept."""
    assert await outcome(orders.execute_item_batch([("create", (body,))], body["orderId"])) == Refused(400)
    await orders.create_item(document("a", text="\ud800"))
    assert (await orders.read_item("a", ORDER))["text"] == "\ud800"


@pytest.mark.parametrize(("length", "expected"), [(2048, OK), (2049, Refused(400))])
async def test_length_of_partition_keys(orders: ContainerProxy, length: int, expected: object) -> None:
    """A partition key value has at most 2048 bytes."""
    assert await outcome(orders.create_item(document("a", "k" * length))) == expected


async def test_items_over_two_megabytes_are_413(orders: ContainerProxy) -> None:
    """1.9 MB is taken, 2.1 MB is not."""
    assert await outcome(orders.upsert_item(document("a", text="x" * int(1.9 * MEGABYTE)))) == OK
    assert await outcome(orders.upsert_item(document("a", text="x" * int(2.1 * MEGABYTE)))) == Refused(413)


async def test_a_partition_key_that_is_not_the_documents_is_1001(orders: ContainerProxy) -> None:
    """The header's key must be that in the document; the SDK shows it as 400 with sub-status 1001."""
    await orders.create_item(document("a"))
    replace = orders.client_connection.ReplaceItem(
        f"{orders.container_link}/docs/a", document("a"), options={"partitionKey": "another"}
    )
    assert await outcome(replace) == Refused(400, 1001)


async def test_partitions_are_apart(orders: ContainerProxy) -> None:
    """The same id in two partitions is two items; 1 and 1.0 are one key, and "1" another."""
    await orders.create_item(document("a", "one"))
    await orders.create_item(document("a", "two"))
    await orders.create_item({"id": "n", "orderId": 1})
    assert await outcome(orders.create_item({"id": "n", "orderId": 1.0})) == Refused(409)
    assert await outcome(orders.create_item({"id": "n", "orderId": "1"})) == OK


@pytest.mark.parametrize(("database", "expected"), [("retail", Refused(404)), ("missing", Refused(404, 1003))])
async def test_missing_owners(client: CosmosClient, database: str, expected: Refused) -> None:
    """The SDK looks up the container first: 404 if it is missing, with 1003 if its database is."""
    container = client.get_database_client(database).get_container_client("missing")
    assert await outcome(container.read_item("a", ORDER)) == expected


async def test_a_wrong_key_is_401(cosmos: Cosmos) -> None:
    """Requests are signed, and the signature is checked."""

    async def connect() -> None:
        async with CosmosClient(cosmos.endpoint, "d3Jvbmc="):
            pass

    assert await outcome(connect()) == Refused(401)


async def test_unique_keys_hold_within_a_partition(client: CosmosClient) -> None:
    """A unique key conflicts inside its partition, not across; and a deleted item frees its value."""
    people = await client.get_database_client("retail").create_container(
        "people", PartitionKey("/orderId"), unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]}
    )
    await people.create_item(document("1", email="x"))
    assert await outcome(people.create_item(document("2", email="x"))) == Refused(409)
    assert await outcome(people.create_item(document("2", "another", email="x"))) == OK
    await people.delete_item("1", ORDER)
    assert await outcome(people.create_item(document("2", email="x"))) == OK


async def test_a_recreated_container_is_noticed(client: CosmosClient, cosmos: Cosmos) -> None:
    """A client that knew an earlier container of that name finds its way by the resource id it sends."""
    database = client.get_database_client("retail")
    container = await database.create_container("short-lived", PartitionKey("/orderId"))
    await container.create_item(document("a"))
    async with CosmosClient(cosmos.endpoint, cosmos.key) as other:
        elsewhere = other.get_database_client("retail")
        await elsewhere.delete_container("short-lived")
        await elsewhere.create_container("short-lived", PartitionKey("/orderId"))
    await container.create_item(document("a"))
    assert await ids(container) == ["a"]
    assert (400, 1024) in {(entry.status, entry.substatus) for entry in cosmos.requests.entries("short-lived")}


async def test_charges_grow_with_size(cosmos: Cosmos, orders: ContainerProxy) -> None:
    """Reading 1 KB costs 1.00 and writing it 5.00; 100 KB cost ten times that; a conflict costs 1.00."""
    overhead = len('{"id":"a","orderId":"1001","text":""}')
    for kilobytes in (1, 100):
        await orders.upsert_item(document("a", text="x" * (kilobytes * KILOBYTE - overhead)))
        await orders.read_item("a", ORDER)
    await outcome(orders.create_item(document("a")))
    charges = [
        entry.charge for entry in cosmos.requests.entries("orders") if entry.operation in ("Upsert", "Read", "Create")
    ]
    assert charges == [5.0, 1.0, 50.0, 10.0, 1.0]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([{"op": "add", "path": "/tags/-", "value": "z"}], {"n": 1, "tags": ["x", "y", "z"]}),
        ([{"op": "set", "path": "/tags/0", "value": "z"}], {"n": 1, "tags": ["z", "y"]}),
        ([{"op": "incr", "path": "/n", "value": 4}], {"n": 5, "tags": ["x", "y"]}),
        ([{"op": "remove", "path": "/tags/1"}], {"n": 1, "tags": ["x"]}),
        ([{"op": "move", "from": "/n", "path": "/m"}], {"m": 1, "tags": ["x", "y"]}),
        ([{"op": "replace", "path": "/missing", "value": 1}], Refused(400)),
        ([{"op": "set", "path": "/orderId", "value": "other"}], Refused(400)),
        ([{"op": "set", "path": "/n", "value": 1}] * 11, Refused(400)),
    ],
)
async def test_patches(orders: ContainerProxy, operations: list[dict[str, object]], expected: object) -> None:
    """Patch operations change the document, or are refused and change nothing."""
    await orders.create_item(document("a", n=1, tags=["x", "y"]))
    refused = await outcome(orders.patch_item("a", ORDER, operations))
    assert refused == (expected if isinstance(expected, Refused) else OK)
    shown = await orders.read_item("a", ORDER)
    content = {name: value for name, value in shown.items() if name in ("n", "m", "tags")}
    assert content == (expected if isinstance(expected, dict) else {"n": 1, "tags": ["x", "y"]})


async def test_a_patch_condition_that_does_not_hold_is_412(orders: ContainerProxy) -> None:
    """The filter predicate of a patch is judged against the stored item."""
    await orders.create_item(document("a", n=1))
    patch = [{"op": "incr", "path": "/n", "value": 1}]
    refused = orders.patch_item("a", ORDER, patch, filter_predicate="FROM c WHERE c.n = 2")
    assert await outcome(refused) == Refused(412)
    assert await outcome(orders.patch_item("a", ORDER, patch, filter_predicate="FROM c WHERE c.n = 1")) == OK
