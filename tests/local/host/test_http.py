"""HTTP functions, the status page and the clock."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from local.host.host import FunctionsHost

from .waiting import eventually

SOURCE = """
import json, os, asyncio
@app.route("echo/{name}/{rank:int?}", methods=["POST"], auth_level=func.AuthLevel.FUNCTION)
async def echo(req: func.HttpRequest) -> func.HttpResponse:
    answer = {"route": dict(req.route_params), "query": dict(req.params), "body": list(req.get_body())}
    cookie = {"Set-Cookie": "a=b; Path=/; HttpOnly; SameSite=Lax"}
    return func.HttpResponse(json.dumps(answer), status_code=202, headers={"X-Kind": "echo", **cookie})
@app.route("broken")
async def broken(req: func.HttpRequest) -> func.HttpResponse:
    raise RuntimeError("out of order")
@app.route("leave")
async def leave(req: func.HttpRequest) -> func.HttpResponse:
    os._exit(3)
@app.route("hang")
async def hang(req: func.HttpRequest) -> func.HttpResponse:
    await asyncio.Event().wait()
"""


@asynccontextmanager
async def served(app: Path) -> AsyncIterator[tuple[FunctionsHost, aiohttp.ClientSession]]:
    async with FunctionsHost.running(app) as host, aiohttp.ClientSession(host.url) as session:
        yield host, session


async def test_a_request_reaches_the_function_whole(make_app: Callable[[str], Path]) -> None:
    """Route parameters, query and raw body go in; status, headers and cookies come out."""
    async with served(make_app(SOURCE)) as (_, session):
        async with session.post("/api/echo/ada/7?q=1", data=b"\xff\x00") as answer:
            content = await answer.json(content_type=None)
            cookie = answer.headers["Set-Cookie"]
        assert (answer.status, answer.headers["X-Kind"]) == (202, "echo")
        assert cookie == "a=b; Path=/; HttpOnly; SameSite=Lax"
        assert content == {"route": {"name": "ada", "rank": "7"}, "query": {"q": "1"}, "body": [255, 0]}
        async with session.post("/api/echo/ada") as answer:
            assert (await answer.json(content_type=None))["route"] == {"name": "ada"}


async def test_what_no_route_matches_is_not_found(make_app: Callable[[str], Path]) -> None:
    """A constraint, a missing prefix and an unknown name all answer 404, and so does another method."""
    async with served(make_app(SOURCE)) as (_, session):
        for path in ("/api/echo/ada/seven", "/echo/ada", "/api/nothing"):
            async with session.post(path) as answer:
                assert answer.status == 404
        async with session.get("/api/echo/ada") as answer:
            assert answer.status == 404


async def test_failures_are_told_apart(make_app: Callable[[str], Path]) -> None:
    """An exception is a 500 and the worker lives on; a worker that dies is a 502 and is replaced."""
    async with served(make_app(SOURCE)) as (host, session):
        first = host.worker_pid()
        async with session.get("/api/broken") as answer:
            assert (answer.status, await answer.read(), host.worker_pid()) == (500, b"", first)
        async with session.get("/api/leave") as answer:
            assert answer.status == 502
        async with session.post("/api/echo/ada") as answer:
            assert (answer.status, host.status().worker.starts) == (202, 2)


async def test_the_status_page_counts_what_is_in_flight(make_app: Callable[[str], Path]) -> None:
    """State, worker, functions and running invocations are on one page."""
    async with served(make_app(SOURCE)) as (host, session):
        hanging = asyncio.create_task(session.get("/api/hang").__aenter__())
        await eventually(lambda: host.in_flight == 1)
        async with session.get("/admin/host/status") as answer:
            status = await answer.json()
        assert status == {
            "state": "Running",
            "worker": {"pid": host.worker_pid(), "starts": 1},
            "functions": [{"name": name, "trigger": "httpTrigger"} for name in ("echo", "broken", "leave", "hang")],
            "in_flight": 1,
            "error": None,
        }
        host.kill_worker()
        assert (await hanging).status == 502


async def test_the_clock_only_goes_forward(make_app: Callable[[str], Path]) -> None:
    """The clock's page moves it, and refuses to move it back."""
    async with served(make_app(SOURCE)) as (_, session):
        async with session.post("/_local/clock", json={"advance": 60}) as answer:
            assert answer.status == 200
        async with session.post("/_local/clock", json={"advance": -1}) as answer:
            assert answer.status == 400
