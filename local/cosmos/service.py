"""The stand-in as a whole: started, reachable, stopped."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from .auth import EMULATOR_KEY
from .clock import Clock
from .container import TTL_ON_WITHOUT_DEFAULT
from .control import PREFIX, Control
from .faults import Faults
from .gateway import Gateway
from .holds import Holds
from .journal import Journal
from .storage import open_storage
from .store import Store

HOST = "127.0.0.1"
IN_MEMORY = ":memory:"
_MOST_BYTES_READ = 16 * 1024 * 1024  # what is over 2 MB is refused with 413 by the gateway, so it must be read first
_PURGE_EACH_SECONDS = 30.0  # often enough that an expired item does not linger, rare enough to cost nothing
_STOP_SECONDS = 0.5  # how long requests in flight may take to end; held ones never would


class Cosmos:
    """A running stand-in."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self.faults = Faults()
        self.holds = Holds()
        self.requests = Journal()
        self.key = EMULATOR_KEY
        self.endpoint = ""  # known once it listens

    @property
    def connection_string(self) -> str:
        return f"AccountEndpoint={self.endpoint};AccountKey={self.key};"

    @classmethod
    @asynccontextmanager
    async def serving(
        cls,
        *,
        port: int = 0,
        db: str | Path = IN_MEMORY,
        topology: str | Path | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> AsyncIterator["Cosmos"]:
        """Serve on the loopback interface, in the current event loop, until the block ends.

        `port` 0 picks a free one. `db` is the SQLite file. `topology` is a JSON file that names a `database` and its
        `containers` with their `partitionKeyPath`; what is missing of them is made, with TTL on. With `tls` it
        speaks https.
        """
        connection = open_storage(str(db))
        clock = Clock()
        running = cls(Store(connection, clock), clock)
        try:
            if topology is not None:
                running._create(json.loads(await asyncio.to_thread(Path(topology).read_text)))
            async with running._listening(port, tls), running._purging():
                yield running
        finally:
            connection.close()

    @asynccontextmanager
    async def _listening(self, port: int, tls: ssl.SSLContext | None) -> AsyncIterator[None]:
        gateway = Gateway(self.store, self.key, self.faults, self.holds, self.requests)
        app = web.Application(client_max_size=_MOST_BYTES_READ)
        app.add_routes(Control(self.clock, self.faults, self.holds, self.requests).routes())
        app.router.add_route("*", f"{PREFIX}/{{unknown:.*}}", _no_such_control)
        app.router.add_route("*", "/{path:.*}", gateway.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOP_SECONDS)
        await runner.setup()
        try:
            site = web.TCPSite(runner, HOST, port, ssl_context=tls)
            await site.start()
            self.endpoint = f"{'https' if tls else 'http'}://{HOST}:{runner.addresses[0][1]}/"
            yield
        finally:
            await runner.cleanup()

    @asynccontextmanager
    async def _purging(self) -> AsyncIterator[None]:
        async def purge_now_and_then() -> None:
            while True:
                await asyncio.sleep(_PURGE_EACH_SECONDS)
                self.store.purge()

        task = asyncio.create_task(purge_now_and_then())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _create(self, topology: dict[str, object]) -> None:
        match topology:
            case {"database": str(database), "containers": dict(containers)}:
                pass
            case _:
                raise ValueError("the topology names no database or no containers")
        catalog = self.store.catalog
        if catalog.database(database) is None:
            catalog.create_database({"id": database})
        for name, settings in containers.items():
            if catalog.container(database, name) is None:
                key = {"paths": [settings["partitionKeyPath"]], "kind": "Hash", "version": 2}
                body = {"id": name, "partitionKey": key, "defaultTtl": TTL_ON_WITHOUT_DEFAULT}
                catalog.create_container(database, body, throughput=None)


async def _no_such_control(request: web.Request) -> web.Response:
    return web.json_response({"error": f"there is no {request.method} {request.path}"}, status=404)
