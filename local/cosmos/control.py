"""The controls under /_local: for tests, demos and people. The service has nothing like them, so nothing signs here."""

import datetime
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from .clock import Clock
from .faults import Fault, Faults
from .holds import Holds
from .journal import Journal

PREFIX = "/_local"


class Control:
    """Clock, faults, holds and the request log over HTTP."""

    def __init__(self, clock: Clock, faults: Faults, holds: Holds, journal: Journal) -> None:
        self._clock = clock
        self._faults = faults
        self._holds = holds
        self._journal = journal

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(f"{PREFIX}/ready", self._ready),
            web.post(f"{PREFIX}/clock", _said(self._advance)),
            web.get(f"{PREFIX}/requests", self._requests),
            web.delete(f"{PREFIX}/requests", self._clear_requests),
            web.get(f"{PREFIX}/faults", self._pending_faults),
            web.post(f"{PREFIX}/faults", _said(self._add_fault)),
            web.delete(f"{PREFIX}/faults", self._clear_faults),
            web.get(f"{PREFIX}/holds", self._waiting),
            web.post(f"{PREFIX}/holds/release", _said(self._release)),
        ]

    async def _ready(self, _: web.Request) -> web.Response:
        return web.json_response({"ready": True})

    async def _advance(self, body: Any) -> dict[str, Any]:
        now = self._clock.advance(float(body["advance"]))
        return {"now": datetime.datetime.fromtimestamp(now, datetime.UTC).isoformat()}

    async def _requests(self, request: web.Request) -> web.Response:
        query = request.query
        return web.json_response(self._journal.as_json(query.get("container"), query.get("operation")))

    async def _clear_requests(self, _: web.Request) -> web.Response:
        self._journal.clear()
        return web.json_response(self._journal.as_json())

    async def _pending_faults(self, _: web.Request) -> web.Response:
        return web.json_response({"faults": self._faults.pending()})

    async def _add_fault(self, body: Any) -> dict[str, Any]:
        self._faults.add(Fault.of(body))
        return {"faults": self._faults.pending()}

    async def _clear_faults(self, _: web.Request) -> web.Response:
        self._faults.clear()
        return web.json_response({"faults": []})

    async def _waiting(self, _: web.Request) -> web.Response:
        return web.json_response({"holds": [held.as_json() for held in self._holds.waiting()]})

    async def _release(self, body: Any) -> dict[str, Any]:
        n = (body or {}).get("n")
        if n is not None and type(n) is not int:
            raise ValueError("'n' is the number of a held request")
        return {"released": self._holds.release(n)}


def _said(
    answer: Callable[[Any], Awaitable[dict[str, Any]]],
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A handler of a JSON body whose complaints are answered with status 400."""

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            body = await request.json() if request.can_read_body else None
            return web.json_response(await answer(body))
        except (ValueError, TypeError, KeyError) as complaint:
            return web.json_response({"error": f"{type(complaint).__name__}: {complaint}"}, status=400)

    return handle
