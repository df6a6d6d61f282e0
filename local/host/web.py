"""The host's own HTTP server: the app's HTTP functions, the status page, and the clock that tests advance."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta

from aiohttp import web

from .clock import Clock
from .errors import HostError
from .listeners.base import Invoker, Rewind
from .listeners.http import HttpRoute


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The worker as the status page shows it."""

    # None between two workers.
    pid: int | None
    # How many workers were started so far.
    starts: int


@dataclass(frozen=True, slots=True)
class FunctionStatus:
    """One indexed function as the status page shows it."""

    name: str
    trigger: str


@dataclass(frozen=True, slots=True)
class Status:
    """What GET /admin/host/status answers."""

    # Starting, Running or Error, as the real host words it.
    state: str
    worker: WorkerStatus
    functions: tuple[FunctionStatus, ...]
    # Invocations running right now.
    in_flight: int
    # Why the state is Error, in the worker's own words.
    error: str | None


class WebServer:
    """Serves on loopback; HTTP functions are added once the app is indexed."""

    def __init__(self, invoker: Invoker, clock: Clock, status: Callable[[], Status]) -> None:
        self._invoker = invoker
        self._clock = clock
        self._status = status
        self._prefix = "/"
        self._routes: list[HttpRoute] = []
        self._rewinds: Mapping[str, Rewind] = {}
        application = web.Application()
        application.router.add_get("/admin/host/status", self._answer_status)
        application.router.add_post("/_local/clock", self._advance_clock)
        application.router.add_post("/_local/event-hubs/rewind", self._rewind)
        application.router.add_route("*", "/{path:.*}", self._answer_function)
        self._runner = web.AppRunner(application, access_log=None)

    async def start(self, port: int) -> str:
        """Listens on 127.0.0.1 (port 0: a free one) and returns the server's address."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    def serve(self, routes: list[HttpRoute], prefix: str, rewinds: Mapping[str, Rewind]) -> None:
        """Begins to answer the app's HTTP functions below the route prefix, and to rewind its Event Hubs functions."""
        self._routes, self._prefix, self._rewinds = routes, f"/{prefix}/" if prefix else "/", rewinds

    async def stop(self) -> None:
        """Stops listening."""
        await self._runner.cleanup()

    async def _answer_status(self, _request: web.Request) -> web.Response:
        return web.json_response(asdict(self._status()))

    async def _advance_clock(self, request: web.Request) -> web.Response:
        try:
            self._clock.advance(timedelta(seconds=float((await request.json())["advance"])))
        except (ValueError, TypeError, KeyError, json.JSONDecodeError) as error:
            return web.json_response({"error": f'post {{"advance": seconds}}: {error}'}, status=400)
        return web.json_response({"now": self._clock.now().isoformat()})

    async def _rewind(self, request: web.Request) -> web.Response:
        try:
            content = await request.json()
            name, partition, number = (
                str(content["function"]),
                str(content["partition"]),
                int(content["sequence_number"]),
            )
            if name not in self._rewinds:
                raise HostError(f"no function {name} with an Event Hubs trigger")
            await self._rewinds[name](partition, number)
        except (ValueError, TypeError, KeyError, HostError) as error:
            shape = '{"function": name, "partition": id, "sequence_number": the last one not to be read again, or -1}'
            return web.json_response({"error": f"{error}; post {shape}"}, status=400)
        return web.json_response({"function": name, "partition": partition, "sequence_number": number})

    async def _answer_function(self, request: web.Request) -> web.Response:
        path = request.path
        if path.startswith(self._prefix):
            below = path.removeprefix(self._prefix).rstrip("/")
            for route in self._routes:
                if (parameters := route.parameters(request.method, below)) is not None:
                    return await route.answer(request, parameters, self._invoker)
        # Also for a method that no route of this path has: the real host answers 404, not 405.
        return web.Response(status=404)
