"""The host of one app: settings, worker, settlement service, listeners and web server, put together. READ THIS FIRST.

async with FunctionsHost.running(app_dir, settings={"ServiceBusConnection": "…"}) as host:
    host.kill_worker()
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from . import wire
from .app_settings import AppSettings
from .bindings import TriggeredFunction
from .clock import Clock
from .errors import HostError
from .host_json import HostJson
from .listeners.base import Listener, Surroundings
from .listeners.http import HttpRoute
from .listeners.registry import HTTP_TRIGGER, listener_for, rewinds
from .settlement.registry import SettlementRegistry
from .settlement.server import SettlementServer
from .web import FunctionStatus, Status, WebServer, WorkerStatus
from .worker_process import MAX_MESSAGE_LENGTH, WorkerProcess

# How long running invocations may go on after a stop was asked for; Core Tools gives up sooner.
STOP_GRACE = timedelta(seconds=10)
# The worker asks for its own web server with this capability (the FastAPI extension); requests would bypass us.
_OWN_WEB_SERVER = "HttpUri"


class FunctionsHost:
    """Runs one app folder until stopped."""

    def __init__(self, app_dir: Path, settings: Mapping[str, str] | None = None) -> None:
        """Reads host.json and the settings; `settings` win over the environment, which wins over the file.

        Raises HostError when host.json or local.settings.json cannot be used.
        """
        self._app_dir = app_dir.resolve()
        self._host_json = HostJson.read(self._app_dir)
        self._settings = AppSettings.read(self._app_dir, os.environ, settings or {})
        self._clock = Clock()
        self._functions: tuple[TriggeredFunction, ...] = ()
        self._parts = AsyncExitStack()
        self._worker: WorkerProcess | None = None
        self._serving = False
        self._refusal: str | None = None
        self.url = ""

    @staticmethod
    @asynccontextmanager
    async def running(
        app_dir: Path | str, settings: Mapping[str, str] | None = None, port: int = 0
    ) -> AsyncIterator["FunctionsHost"]:
        """A host whose worker has indexed the app and whose listeners run.

        Raises IndexingError with the worker's own text when the app cannot be loaded, HostError when a trigger or a
        setting is not usable.
        """
        host = FunctionsHost(Path(app_dir), settings)
        try:
            await host.start(port)
            yield host
        finally:
            await host.stop()

    @property
    def log_level(self) -> int:
        """`logging.logLevel.default` of host.json as a Python level."""
        return self._host_json.log_level

    @property
    def in_flight(self) -> int:
        """Invocations running right now."""
        return self._worker.in_flight if self._worker else 0

    def worker_pid(self) -> int | None:
        """The worker's process id, None between two workers."""
        return self._worker.pid if self._worker else None

    def kill_worker(self) -> int:
        """Sends SIGKILL to the worker and returns its process id. Raises HostError when there is none right now."""
        pid = self.worker_pid()
        if pid is None:
            raise HostError("there is no worker to kill right now")
        os.kill(pid, signal.SIGKILL)
        return pid

    def now(self) -> datetime:
        """The host's clock, in UTC."""
        return self._clock.now()

    def advance_clock(self, by: timedelta) -> None:
        """Moves the host's clock, by which locks are renewed, forward."""
        self._clock.advance(by)

    def status(self) -> Status:
        """What GET /admin/host/status answers."""
        worker = self._worker
        error = self._refusal or (worker.error if worker else None)
        running = self._serving and worker is not None and worker.is_ready
        return Status(
            state="Error" if error else "Running" if running else "Starting",
            worker=WorkerStatus(self.worker_pid(), worker.starts if worker else 0),
            functions=tuple(FunctionStatus(each.function.name, each.trigger_type) for each in self._functions),
            in_flight=self.in_flight,
            error=error,
        )

    async def start(self, port: int = 0) -> None:
        """Starts all parts; the status page answers from the first moment, also after this raised.

        Raises IndexingError or HostError; call `stop` either way.
        """
        registry = SettlementRegistry()
        settlement = SettlementServer(registry, MAX_MESSAGE_LENGTH)
        settlement_port = await settlement.start()
        self._parts.push_async_callback(settlement.stop)
        self._worker = WorkerProcess(self._app_dir, self._settings.values, settlement_port)
        web = WebServer(self._worker, self._clock, self.status)
        self.url = await web.start(port)
        self._parts.push_async_callback(web.stop)
        self._parts.push_async_callback(self._worker.stop)
        indexed = await self._worker.start()
        surroundings = Surroundings(self._worker, self._settings, self._host_json, registry, self._clock)
        try:
            await self._listen(indexed, surroundings, web)
        except HostError as error:
            self._refusal = str(error)
            raise
        self._serving = True

    async def stop(self) -> None:
        """Receives nothing new, lets running invocations finish within STOP_GRACE, leaves no process behind."""
        self._serving = False
        await self._parts.aclose()

    async def _listen(self, indexed: wire.Indexed, surroundings: Surroundings, web: WebServer) -> None:
        if _OWN_WEB_SERVER in indexed.capabilities:
            raise HostError("the local host does not proxy HTTP streaming (azurefunctions-extensions-http-*)")
        self._functions = tuple(TriggeredFunction.read(function) for function in indexed.functions)
        http = [HttpRoute.of(each) for each in self._functions if each.trigger_type == HTTP_TRIGGER]
        # All are made before any starts: an app with a trigger we refuse must not have taken a message.
        listeners = [listener_for(each, surroundings) for each in self._functions if each.trigger_type != HTTP_TRIGGER]
        self._parts.push_async_callback(_stop_all, listeners)
        await asyncio.gather(*(listener.start() for listener in listeners))
        web.serve(http, self._host_json.route_prefix, rewinds(listeners))


async def _stop_all(listeners: list[Listener]) -> None:
    # Together: the grace is one for all of them, and each SDK client takes a while to close.
    await asyncio.gather(*(listener.stop(STOP_GRACE) for listener in listeners))
