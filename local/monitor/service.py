"""The stand-in as a whole: what it answers, where it writes, how it is started."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from .items import Line, Refused, Sample, items_in
from .totals import Totals

INSTRUMENTATION_KEY = "00000000-0000-4000-8000-10ca1a991001"
"""The only one that is known here; every other is refused."""
TRACES = "traces.jsonl"
LOGS = "logs.jsonl"
_HOST = "127.0.0.1"
_MOST_BYTES = 16 * 1024 * 1024  # unpacked; exporters send a few hundred items at a time
_STOP_SECONDS = 0.5


class Monitor:
    """A running stand-in."""

    def __init__(self, directory: Path) -> None:
        self.metrics = Totals()
        self.traces = directory / TRACES
        self.logs = directory / LOGS
        self.endpoint = ""  # known once it listens
        self._writing = asyncio.Lock()

    @property
    def connection_string(self) -> str:
        """As the app setting APPLICATIONINSIGHTS_CONNECTION_STRING carries it."""
        key, endpoint = INSTRUMENTATION_KEY, self.endpoint
        return f"InstrumentationKey={key};IngestionEndpoint={endpoint};LiveEndpoint={endpoint}"

    @classmethod
    @asynccontextmanager
    async def serving(cls, *, directory: Path, port: int = 0) -> AsyncIterator["Monitor"]:
        """Serve on the loopback interface until the block ends. The files in the directory are begun anew."""
        running = cls(directory)
        await asyncio.to_thread(_begin, directory, (running.traces, running.logs))
        runner = web.AppRunner(running._app(), access_log=None, shutdown_timeout=_STOP_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, _HOST, port).start()
            running.endpoint = f"http://{_HOST}:{runner.addresses[0][1]}/"
            yield running
        finally:
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=_MOST_BYTES)
        app.add_routes(
            [
                # The exporter appends its path to an endpoint that ends in a slash already.
                web.post("/{slash:/?}v2.1/track", self._track),
                web.post("/{slash:/?}QuickPulseService.svc/ping", self._ping),
                web.get("/_local/ready", self._ready),
                web.get("/_local/metrics", self._show_metrics),
                web.delete("/_local/metrics", self._forget_metrics),
            ]
        )
        return app

    async def _track(self, request: web.Request) -> web.Response:
        """Take items in; answer as the service does: 200, 206 when some are refused, 400 when all are."""
        try:
            items = _parsed(await request.text())  # unpacked by aiohttp when it is gzip
        except (ValueError, RecursionError):
            return web.json_response(_answer(0, 0, [_error(0, "Invalid JSON.")]), status=400)
        errors: list[dict[str, Any]] = []
        told: list[Sample | Line] = []
        for index, item in enumerate(items):
            try:
                told += items_in(item, INSTRUMENTATION_KEY)
            except Refused as refusal:
                errors.append(_error(index, str(refusal)))
        await self._keep(told)
        accepted = len(items) - len(errors)
        status = 200 if not errors else 206 if accepted else 400
        return web.json_response(_answer(len(items), accepted, errors), status=status)

    async def _keep(self, told: Sequence[Sample | Line]) -> None:
        lines: dict[Path, str] = {self.traces: "", self.logs: ""}
        for one in told:
            match one:
                case Sample():
                    self.metrics.add(one)
                case Line():
                    file = self.logs if one.log else self.traces
                    lines[file] += json.dumps(one.members, ensure_ascii=False) + "\n"
        async with self._writing:
            for file, text in lines.items():
                if text:
                    await asyncio.to_thread(_append, file, text)

    async def _ping(self, _request: web.Request) -> web.Response:
        """Live Metrics: nobody watches."""
        return web.Response(headers={"x-ms-qps-subscribed": "false"})

    async def _ready(self, _request: web.Request) -> web.Response:
        return web.json_response({"traces": str(self.traces), "logs": str(self.logs)})

    async def _show_metrics(self, _request: web.Request) -> web.Response:
        return web.json_response({"metrics": self.metrics.as_json()})

    async def _forget_metrics(self, _request: web.Request) -> web.Response:
        """`DELETE /_local/metrics`: sums begin anew, for whoever wants to see what one message adds. Files stay."""
        self.metrics.clear()
        return web.Response(status=204)


def _parsed(text: str) -> list[Any]:
    """An array, one object, or one object a line: the service takes all three. Raises ValueError for anything else."""
    if not text.strip():
        raise ValueError("nothing was sent")
    try:
        parsed = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return parsed if isinstance(parsed, list) else [parsed]


def _answer(received: int, accepted: int, errors: list[dict[str, Any]]) -> dict[str, Any]:
    return {"itemsReceived": received, "itemsAccepted": accepted, "errors": errors}


def _error(index: int, message: str) -> dict[str, Any]:
    return {"index": index, "statusCode": 400, "message": message}


def _begin(directory: Path, files: Sequence[Path]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for file in files:
        file.write_text("")


def _append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as output:
        output.write(text)
