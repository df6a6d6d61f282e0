"""The parts put together, over the stand-in for Cosmos DB and the real SDK."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from local.cosmos import Cosmos
from shared.idempotency import Duplicate, Processed, TransientFailure
from shared.transports import event_hubs
from shared.wiring import TOPOLOGY, App
from tests import examples
from tests.event_batches import Sent, batch, context, movement

TOPOLOGY_FILE = Path(__file__).parents[2] / "shared" / "topology.json"
NO_STORAGE = (
    "AccountName=shop;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:1/shop;BlobEndpoint=http://127.0.0.1:1/shop"
)
"""Settings that are right, of an account at which nothing listens."""


def settings(cosmos: Cosmos) -> dict[str, str]:
    """For an app whose database answers and whose storage does not."""
    return {"CosmosConnection": cosmos.connection_string, "AzureWebJobsStorage": NO_STORAGE}


@asynccontextmanager
async def started(environment: dict[str, str]) -> AsyncIterator[App]:
    """A worker's app, closed at the end."""
    app = App(environment)
    try:
        yield app
    finally:
        await app.close()


@pytest.fixture
async def cosmos() -> AsyncIterator[Cosmos]:
    async with Cosmos.serving(topology=TOPOLOGY_FILE) as server:
        yield server


async def test_an_order_and_a_customer_are_processed_once_by_whatever_worker(cosmos: Cosmos) -> None:
    """What one worker committed, another one that remembers nothing finds."""
    registration = examples.delivery(
        examples.register_customer_body(), source="customers", message_id=examples.CUSTOMER_ID
    )
    for expected in (Processed, Duplicate):
        async with started(settings(cosmos)) as app:
            assert isinstance(await app.consumer("place_order").consumer.consume(examples.delivery()), expected)
            assert isinstance(await app.consumer("register_customer").consumer.consume(registration), expected)


async def test_every_consumer_reads_a_queue_of_the_topology(cosmos: Cosmos) -> None:
    """The name in the key is the queue's."""
    app = App({})
    assert [app.consumer(name).queue for name in ("place_order", "register_customer")] == ["orders", "customers"]
    for name in ("place_order", "register_customer"):
        assert TOPOLOGY.queue(app.consumer(name).queue)
        assert app.consumer(name).consumer.name == name


async def test_every_stream_consumer_reads_a_hub_of_the_topology() -> None:
    """The name in the key is the hub's, and its markers outlive every reading of an event."""
    subscribed = App({}).stream_consumer("record_movement")
    assert (subscribed.hub, subscribed.consumer.name) == ("stock-movements", "record_movement")
    assert TOPOLOGY.event_hub(subscribed.hub).retention() == subscribed.consumer.placement.retention
    assert not subscribed.keyless


async def test_a_batch_of_movements_is_one_commit_an_article(cosmos: Cosmos) -> None:
    """Whatever the batch's size; what another worker committed is found in one request an article."""
    sent = [movement(f"{sku}-{n}", sku, quantity=1) for n in range(10) for sku in ("sku-1", "sku-2")]
    for retry, expected in ((0, {"Read": 2, "Batch": 2}), (1, {"Query": 2})):
        async with started(settings(cosmos)) as app:
            movements = app.stream_consumer("record_movement")
            # The SDK learns the container's layout from its first requests.
            await event_hubs.consume(movements, batch(movement(f"first-{retry}", "sku-9")), context(retry))
            cosmos.requests.clear()
            await event_hubs.consume(movements, batch(*sent), context(retry))
            assert Counter(entry.operation for entry in cosmos.requests.entries()) == expected
            level = await movements.consumer.store.read("sku-2", "level")
            assert level is not None
            assert (level.body["sum"], level.body["count"]) == ("10", 10)


@pytest.mark.parametrize("storage", ["", "hunter2", "AccountName=shop"])
async def test_wrong_storage_settings_are_an_outage_at_the_first_delivery(cosmos: Cosmos, storage: str) -> None:
    """Told by health and by whatever comes first, not only when the first event has to be parked."""
    async with started(settings(cosmos) | {"AzureWebJobsStorage": storage}) as app:
        assert await app.ailment() == "SettingsError"
        with pytest.raises(TransientFailure, match="AzureWebJobsStorage"):
            await app.consumer("place_order").consumer.consume(examples.delivery())
        with pytest.raises(TransientFailure, match="AzureWebJobsStorage"):
            await event_hubs.consume(app.stream_consumer("record_movement"), batch(Sent(key="sku-1")), context())


async def test_every_faulty_setting_is_told_by_whoever_comes_first() -> None:
    """The database's and those of storage in one message, to a queue's consumer as to a parking lot."""
    async with started({}) as app:
        for told in ("CosmosConnection", "AzureWebJobsStorage"):
            with pytest.raises(TransientFailure, match=f"{told}: Expected"):
                await app.consumer("place_order").consumer.consume(examples.delivery())
            with pytest.raises(TransientFailure, match=f"{told}: Expected"):
                await event_hubs.consume(app.stream_consumer("record_movement"), batch(Sent(key="sku-1")), context())


async def test_poison_waits_for_storage_that_is_down_and_good_events_do_not(cosmos: Cosmos) -> None:
    """The batch comes again until storage is back; the good events in it are done."""
    async with started(settings(cosmos)) as app:
        subscribed = app.stream_consumer("record_movement")
        with pytest.raises(TransientFailure, match="parked event was not written: no answer"):
            await event_hubs.consume(subscribed, batch(Sent(key="sku-1"), movement()), context())
        assert await subscribed.consumer.store.read("sku-1", "level")


async def test_settings_are_read_once(cosmos: Cosmos) -> None:
    """What is changed beneath a running worker has no effect: half of an app would follow it."""
    environment = settings(cosmos)
    async with started(environment) as app:
        assert await app.ailment() is None
        environment.clear()
        with pytest.raises(TransientFailure, match="no answer"):
            await event_hubs.consume(app.stream_consumer("record_movement"), batch(Sent(key="sku-1")), context())


async def test_containers_are_checked_once_and_new_messages_cost_one_request(cosmos: Cosmos) -> None:
    """The start asks what it must; after that a new message is one batch."""
    async with started(settings(cosmos)) as app:
        orders = app.consumer("place_order").consumer
        await orders.consume(examples.delivery())
        cosmos.requests.clear()
        for order_id in ("1002", "1003"):
            await orders.consume(
                examples.delivery(examples.place_order_body(order_id), message_id=f"{order_id}/placed")
            )
        assert [entry.operation for entry in cosmos.requests.entries()] == ["Batch", "Batch"]


async def test_a_missing_setting_is_an_outage_until_it_is_there(cosmos: Cosmos) -> None:
    """A deployment without its settings holds messages; it does not dead-letter a queue in seconds."""
    environment: dict[str, str] = {}
    async with started(environment) as app:
        orders = app.consumer("place_order").consumer
        with pytest.raises(TransientFailure, match="CosmosConnection"):
            await orders.consume(examples.delivery())
        environment |= settings(cosmos)
        assert isinstance(await orders.consume(examples.delivery()), Processed)


async def test_a_container_that_is_not_there_stops_its_own_consumer_only(tmp_path: Path) -> None:
    """Customers wait for the container; orders go on."""
    file = tmp_path / "topology.json"
    file.write_text(json.dumps({"database": "retail", "containers": {"orders": {"partitionKeyPath": "/orderId"}}}))
    async with (
        Cosmos.serving(topology=file) as server,
        started(settings(server)) as app,
    ):
        assert isinstance(await app.consumer("place_order").consumer.consume(examples.delivery()), Processed)
        assert await app.ailment() == "ContainerUnusable"


async def test_a_database_that_answers_is_healthy_and_one_that_is_gone_is_not(cosmos: Cosmos) -> None:
    """Before the first message as well as after it."""
    async with started(settings(cosmos)) as app:
        assert await app.ailment() is None
    async with Cosmos.serving(topology=TOPOLOGY_FILE) as server, started({}) as app:
        gone = settings(server)
        assert await app.ailment() == "SettingsError"
    async with started(gone) as app:
        assert await app.ailment() == "ServiceRequestError"
