"""Starts every part, waits until each answers, knows where things are, stops them all."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from .azurite import Azurite, start_azurite
from .cosmos import Cosmos, start_cosmos
from .event_hubs import EventHubs, start_event_hubs
from .host import Host, start_host
from .launcher import ROOT, Launcher
from .monitor import Monitor, start_monitor
from .part import Part, PartFailed
from .ports import FREE, Ports
from .service_bus import ServiceBus, start_service_bus

LOGS = ROOT / "local/.run"
TOPOLOGY = ROOT / "shared/topology.json"


@dataclass(frozen=True, slots=True)
class Services:
    """What an app is connected to."""

    service_bus: ServiceBus
    """The broker."""
    event_hubs: EventHubs
    """The event stream."""
    cosmos: Cosmos
    """The database."""
    azurite: Azurite | None
    """Storage, None when it was not asked for."""
    monitor: Monitor | None
    """Who takes metrics, traces and logs, None when it was not asked for."""

    def settings(self) -> dict[str, str]:
        """The app settings that lead to these services."""
        storage = {} if self.azurite is None else {"AzureWebJobsStorage": self.azurite.connection_string}
        return {
            "FUNCTIONS_WORKER_RUNTIME": "python",
            "ServiceBusConnection": self.service_bus.connection_string,
            "EventHubConnection": self.event_hubs.connection_string,
            "CosmosConnection": self.cosmos.connection_string,
            **storage,
            **(self.monitor.settings() if self.monitor else {}),
        }


@dataclass(frozen=True, slots=True)
class Stack:
    """What runs, and where. Made by `Stack.running`."""

    services: Services
    """What the app is connected to."""
    functions: Host | None
    """The Functions host, None when it was not asked for."""
    parts: Sequence[Part]
    """The child processes in the order of their start."""

    @property
    def service_bus(self) -> ServiceBus:
        """The broker."""
        return self.services.service_bus

    @property
    def event_hubs(self) -> EventHubs:
        """The event stream."""
        return self.services.event_hubs

    @property
    def cosmos(self) -> Cosmos:
        """The database."""
        return self.services.cosmos

    @property
    def monitor(self) -> Monitor:
        """The monitor. Raises LookupError when the stack was started without."""
        if self.services.monitor is None:
            raise LookupError("this stack was started without a monitor")
        return self.services.monitor

    @property
    def host(self) -> Host:
        """The Functions host. Raises LookupError when the stack was started without."""
        if self.functions is None:
            raise LookupError("this stack was started without a host")
        return self.functions

    async def failure(self) -> PartFailed:
        """Wait until any part ends by itself; answer the error that says which."""
        watches = [asyncio.create_task(part.ended()) for part in self.parts]
        try:
            ended, _ = await asyncio.wait(watches, return_when=asyncio.FIRST_COMPLETED)
            return ended.pop().result()
        finally:
            for watch in watches:
                watch.cancel()

    @classmethod
    @asynccontextmanager
    async def running(
        cls,
        *,
        app_dir: Path = ROOT,
        host: bool = True,
        azurite: bool = False,
        monitor: bool = False,
        settings: Mapping[str, str] | None = None,
        ports: Ports = FREE,
        topology: Path = TOPOLOGY,
        logs: Path = LOGS,
    ) -> AsyncGenerator["Stack"]:
        """Run the stack for the length of the block. Raises PartFailed or ControlFailed when a part does not start.

        `settings` are app settings, laid over those that lead to the services; `logs` is where the parts' output goes.
        """
        async with AsyncExitStack() as exits:
            session = await exits.enter_async_context(aiohttp.ClientSession())
            launcher = Launcher(exits, session, logs)
            services = await _start_services(launcher, ports, topology, azurite=azurite, monitor=monitor)
            functions = None
            if host:
                app_settings = {**services.settings(), **(settings or {})}
                functions = await start_host(launcher, ports.host, app_dir, app_settings)
            yield cls(services, functions, tuple(launcher.parts))


async def _start_services(
    launcher: Launcher, ports: Ports, topology: Path, *, azurite: bool, monitor: bool
) -> Services:
    storage_ports = (ports.azurite_blob, ports.azurite_queue, ports.azurite_table)
    try:
        async with asyncio.TaskGroup() as group:
            broker = group.create_task(
                start_service_bus(launcher, ports.service_bus, ports.service_bus_control, topology)
            )
            stream = group.create_task(start_event_hubs(launcher, ports.event_hubs, ports.event_hubs_control, topology))
            database = group.create_task(start_cosmos(launcher, ports.cosmos, topology))
            storage = group.create_task(start_azurite(launcher, storage_ports)) if azurite else None
            watch = group.create_task(start_monitor(launcher, ports.monitor)) if monitor else None
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None  # the first to fail is the one to mend; the others were called off
    return Services(
        broker.result(),
        stream.result(),
        database.result(),
        None if storage is None else storage.result(),
        None if watch is None else watch.result(),
    )
