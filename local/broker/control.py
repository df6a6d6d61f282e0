"""The HTTP side door for tests and demos: time, statistics, and connection failures."""

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from .service import Service


def control_app(service: "Service") -> web.Application:
    """GET /ready, POST /clock, GET /statistics, POST /connections/drop."""
    app = web.Application()
    app.add_routes(
        [
            web.get("/ready", _answer(lambda: {"amqp_port": service.amqp_port})),
            web.get("/statistics", _answer(lambda: {service.ENTITIES: service.statistics()})),
            web.post("/connections/drop", _answer(lambda: {"dropped": service.drop_connections()})),
            web.post("/clock", _Clock(service).advance),
        ]
    )
    return app


def _answer(result: Callable[[], object]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(_request: web.Request) -> web.Response:
        return web.json_response(result())

    return handle


class _Clock:
    def __init__(self, service: "Service") -> None:
        self._service = service

    async def advance(self, request: web.Request) -> web.Response:
        try:
            body = await request.json()
        except json.JSONDecodeError:
            body = None
        seconds = body.get("advance") if isinstance(body, dict) else None
        if not isinstance(seconds, int | float):
            return web.json_response({"error": 'send {"advance": seconds}'}, status=400)
        try:
            self._service.advance(seconds)
        except (ValueError, OverflowError) as error:
            return web.json_response({"error": str(error)}, status=400)
        return web.json_response({"now": self._service.clock.now().isoformat()})
