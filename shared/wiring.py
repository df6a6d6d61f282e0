"""The composition root: the only place that knows every part, and where each consumer is declared."""

import asyncio
import functools
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from azure.cosmos.aio import CosmosClient

from .idempotency import CompletedMarkers, EntityAsMarker, IdempotentConsumer, InboxMarker, Store, TransientFailure
from .parking.storage_account import Clients, KeyedAccount, KeylessAccount, connect
from .parking.table import TableParkingLot
from .retail.customers import RegisterCustomer, customer_id_of, register_customer
from .retail.orders import PlaceOrder, order_id_of, place_order
from .retail.stock import StockMovement, record_movement, sku_of
from .settings import CosmosSettings, Settings, SettingsError, StorageSettings
from .stores.cosmos import CosmosStore
from .stores.cosmos_account import Account, ContainerUnusable, open_client, open_container
from .stores.late import LateStore
from .telemetry import Telemetry, quiet_sdks
from .topology import Topology
from .transports.event_hubs import StreamConsumer
from .transports.parking import ParkingLot
from .transports.service_bus import QueueConsumer

TOPOLOGY = Topology.read(Path(__file__).with_name("topology.json"))
"""Part of the code: a broken file fails the import, as a broken module does."""
quiet_sdks()  # on import: whoever exports logs also logs each export, which would be exported in turn
_REMEMBERED = 10_000
"""Completed markers kept in the process for each consumer: the duplicates of minutes, in some 10 MB."""
_PROBE_SECONDS = 10.0
"""For the health check: whoever asks should learn of an outage before giving up."""


def _consumers(stores: Mapping[str, Store], telemetry: Telemetry) -> dict[str, QueueConsumer[Any]]:
    orders = TOPOLOGY.queue("orders").retention()
    customers = TOPOLOGY.queue("customers").retention()
    return {
        "place_order": QueueConsumer(
            "orders",
            IdempotentConsumer(
                name="place_order",
                parse=PlaceOrder.from_delivery,
                partition=order_id_of,
                handler=place_order,
                store=stores["orders"],
                placement=InboxMarker(orders),
                cache=CompletedMarkers(_REMEMBERED, orders.duration),
                hook=telemetry.hook,
            ),
            telemetry.message,
        ),
        "register_customer": QueueConsumer(
            "customers",
            IdempotentConsumer(
                name="register_customer",
                parse=RegisterCustomer.from_delivery,
                partition=customer_id_of,
                handler=register_customer,
                store=stores["customers"],
                placement=EntityAsMarker(customer_id_of),
                cache=CompletedMarkers(_REMEMBERED, customers.duration),
                hook=telemetry.hook,
            ),
            telemetry.message,
        ),
    }


def _stream_consumers(
    stores: Mapping[str, Store], parking: ParkingLot, telemetry: Telemetry
) -> dict[str, StreamConsumer[Any]]:
    movements = TOPOLOGY.event_hub("stock-movements").retention()
    return {
        "record_movement": StreamConsumer(
            "stock-movements",
            IdempotentConsumer(
                name="record_movement",
                parse=StockMovement.from_delivery,
                partition=sku_of,
                handler=record_movement,
                store=stores["stock"],
                placement=InboxMarker(movements),
                cache=CompletedMarkers(_REMEMBERED, movements.duration),
                hook=telemetry.hook,
            ),
            parking,
            observe=telemetry.batch,
        ),
    }


class App:
    """All parts put together, on one event loop. Nothing is opened, and no setting read, before a message needs it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._telemetry = Telemetry.of_process()
        self._settings: Settings | None = None
        self._held = AsyncExitStack()
        self._connecting = asyncio.Lock()
        self._client: CosmosClient | None = None
        self._stores = {name: LateStore(functools.partial(self._open, name)) for name in TOPOLOGY.containers}
        self._consumers = _consumers(self._stores, self._telemetry)
        parking = TableParkingLot(lambda: _storage(self._configured().storage))
        self._held.push_async_callback(parking.close)
        self._stream_consumers = _stream_consumers(self._stores, parking, self._telemetry)

    def consumer(self, name: str) -> QueueConsumer[Any]:
        """The consumer of a queue, declared under a name."""
        return self._consumers[name]

    def stream_consumer(self, name: str) -> StreamConsumer[Any]:
        """The consumer of an event hub, declared under a name."""
        return self._stream_consumers[name]

    async def ailment(self) -> str | None:
        """Why messages cannot be processed now, as the class of what is wrong.

        None when every setting is right, those of the parking lot included, and every store answers.
        """
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                await asyncio.gather(*(store.read("health", "health") for store in self._stores.values()))
        except (TransientFailure, TimeoutError) as failure:
            return type(failure.__cause__ or failure).__name__
        return None

    async def close(self) -> None:
        """Close what was opened. A worker lives as long as its process and never does."""
        await self._held.aclose()

    async def _open(self, name: str) -> Store:
        """A checked container as a store. What stands in the way is for time, or for an operator, to heal."""
        container = TOPOLOGY.container(name)
        try:
            proxy = await open_container(
                await self._connected(), TOPOLOGY.database, name, partition_key_path=container.partition_key_path
            )
        except ContainerUnusable as error:
            raise TransientFailure(str(error)) from error
        return CosmosStore(container=proxy, partition_property=container.partition_property, hook=self._telemetry.hook)

    async def _connected(self) -> CosmosClient:
        async with self._connecting:
            if self._client is None:
                self._client = await self._held.enter_async_context(open_client(_account(self._configured().cosmos)))
            return self._client

    def _configured(self) -> Settings:
        """The settings, all checked by whoever comes first. Faults are for an operator to mend while messages wait."""
        if self._settings is None:
            try:
                self._settings = Settings.read(self._environment)
            except SettingsError as error:
                raise TransientFailure(str(error)) from error
        return self._settings


def _account(settings: CosmosSettings) -> Account:
    if settings.connection_string:
        return Account.from_connection_string(settings.connection_string.get_secret_value())
    return Account(settings.endpoint or "", client_id=settings.client_id)


def _storage(settings: StorageSettings) -> Clients:
    if settings.connection_string:
        return connect(KeyedAccount(settings.connection_string.get_secret_value()))
    return connect(KeylessAccount(settings.account_name or "", client_id=settings.client_id))


@functools.cache
def app() -> App:
    """The worker's one app: a worker has one event loop."""
    return App(os.environ)


def consumer(name: str) -> QueueConsumer[Any]:
    """What a queue's trigger hands its messages to."""
    return app().consumer(name)


def stream_consumer(name: str) -> StreamConsumer[Any]:
    """What an event hub's trigger hands its events to."""
    return app().stream_consumer(name)
