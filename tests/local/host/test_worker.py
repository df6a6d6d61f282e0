"""The worker process: loaded, refused, logged, killed, and never left behind."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from local.host.errors import HostError, IndexingError
from local.host.host import FunctionsHost

from .conftest import REPOSITORY, is_alive
from .waiting import eventually

HTTP = """
import logging, os, subprocess, sys, time
@app.route("pids")
async def pids(req: func.HttpRequest) -> str:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    return f"{os.getpid()} {child.pid}"
@app.route("chat")
async def chat(req: func.HttpRequest) -> str:
    logging.getLogger("orders").warning("two\\nlines")
    logging.getLogger("orders").debug("not shown")
    return "said"
@app.route("block")
async def block(req: func.HttpRequest) -> str:
    time.sleep(60)
"""


async def fetch(url: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return await answer.text()


async def test_an_app_that_cannot_be_loaded_says_why(make_app: Callable[[str], Path]) -> None:
    """The worker's own exception and traceback are the error, on the status page too."""
    host = FunctionsHost(make_app("from nowhere_to_be_found import it\n"))
    try:
        with pytest.raises(IndexingError, match="No module named 'nowhere_to_be_found'"):
            await host.start()
        async with aiohttp.ClientSession() as session, session.get(f"{host.url}/admin/host/status") as answer:
            status = await answer.json()
        assert status["state"] == "Error"
        assert "ModuleNotFoundError" in status["error"]
        assert "function_app.py" in status["error"]
    finally:
        await host.stop()


async def test_the_workers_own_checks_are_applied(make_app: Callable[[str], Path]) -> None:
    """A parameter that no binding fills is refused by the library as in production."""
    source = '@app.route("x")\nasync def odd(req: func.HttpRequest, other: int) -> str: ...\n'
    with pytest.raises(IndexingError, match="cannot load the odd function"):
        async with FunctionsHost.running(make_app(source)):
            pass


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('@app.timer_trigger("t", "0 * * * * *")\nasync def tick(t: func.TimerRequest) -> None: ...', "tick.*timer"),
        (
            '@app.queue_trigger("m", queue_name="q", connection="C")\n'
            "async def hear(m: func.QueueMessage) -> None: ...",
            "hear.*queueTrigger",
        ),
        (
            '@app.service_bus_queue_trigger("m", queue_name="q", connection="C", is_sessions_enabled=True)\n'
            "async def sit(m: func.ServiceBusMessage) -> None: ...",
            "sit.*sessions",
        ),
        (
            '@app.service_bus_queue_trigger("m", queue_name="q", connection="Nowhere")\n'
            "async def lost(m: func.ServiceBusMessage) -> None: ...",
            "app setting Nowhere",
        ),
        (
            '@app.route("x")\n@app.queue_output("o", queue_name="q", connection="C")\n'
            "async def put(req: func.HttpRequest, o: func.Out[str]) -> str: ...",
            "put.*queue binding",
        ),
    ],
)
async def test_what_the_host_cannot_do_is_refused_at_start(
    make_app: Callable[[str], Path], source: str, words: str
) -> None:
    """The error names the function and the trigger or binding; nothing is silently left out."""
    host = FunctionsHost(make_app(source))
    try:
        with pytest.raises(HostError, match=words):
            await host.start()
        assert host.status().state == "Error"
    finally:
        await host.stop()


async def test_a_log_record_becomes_one_line_with_its_invocation(
    make_app: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    """Function name, invocation id, logger and message stand on one line, whatever the message contains."""
    caplog.set_level(logging.INFO, "local.host")
    async with FunctionsHost.running(make_app(HTTP)) as host:
        await fetch(f"{host.url}/api/chat")
    (record,) = [each for each in caplog.records if each.name == "local.host.functions"]
    name, _invocation, rest = record.getMessage().split(" ", 2)
    assert (record.levelno, name, rest) == (logging.WARNING, "chat", "orders: two\\nlines")
    assert len(_invocation) == len("00000000-0000-0000-0000-000000000000:") - 1


async def test_killed_again_and_again_the_worker_comes_back(make_app: Callable[[str], Path]) -> None:
    """Each SIGKILL is followed by a new worker that answers."""
    async with FunctionsHost.running(make_app(HTTP)) as host:
        for kills in range(1, 4):
            host.kill_worker()
            await eventually(lambda kills=kills: host.status().worker.starts == kills + 1)
            assert await fetch(f"{host.url}/api/chat") == "said"


async def test_stopping_leaves_no_process(make_app: Callable[[str], Path]) -> None:
    """Neither the worker nor what the app started outlives the host."""
    async with FunctionsHost.running(make_app(HTTP)) as host:
        pids = [int(pid) for pid in (await fetch(f"{host.url}/api/pids")).split()]
        assert all(is_alive(pid) for pid in pids)
    await eventually(lambda: not any(is_alive(pid) for pid in pids))


async def run_command(app: Path) -> asyncio.subprocess.Process:
    command = ("-m", "local.host", "--app", str(app), "--port", "0")
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(sys.executable, *command, stdout=pipe, stderr=pipe, cwd=REPOSITORY)


async def ready_url(process: asyncio.subprocess.Process) -> str:
    assert process.stdout
    line = (await process.stdout.readline()).decode()
    assert line.startswith("host ready http://127.0.0.1:")
    return line.split()[-1]


async def test_a_worker_notices_that_its_host_was_killed(make_app: Callable[[str], Path]) -> None:
    """After SIGKILL of the host the worker and its children go by themselves, even when a function blocks its loop."""
    host = await run_command(make_app(HTTP))
    try:
        url = await ready_url(host)
        pids = [int(pid) for pid in (await fetch(f"{url}/api/pids")).split()]
        blocked = asyncio.create_task(fetch(f"{url}/api/block"))
        await eventually(lambda: in_flight(url))
    finally:
        host.kill()
        await host.communicate()  # to the end of its output, so that nothing of it outlives the event loop
    await asyncio.gather(blocked, return_exceptions=True)
    await eventually(lambda: not any(is_alive(pid) for pid in pids))


async def in_flight(url: str) -> bool:
    return '"in_flight": 1' in await fetch(f"{url}/admin/host/status")


async def test_the_command_line_stops_on_sigterm_with_code_0(make_app: Callable[[str], Path]) -> None:
    """A stop that was asked for is a success."""
    host = await run_command(make_app(HTTP))
    try:
        await ready_url(host)
        host.send_signal(signal.SIGTERM)
        await host.communicate()
        assert host.returncode == 0
    finally:
        if host.returncode is None:
            host.kill()
            await host.communicate()


async def test_the_command_line_fails_when_the_app_cannot_be_loaded(make_app: Callable[[str], Path]) -> None:
    """Exit code 1, and the worker's own words on standard error."""
    host = await run_command(make_app("raise ValueError('settings are missing')\n"))
    _, errors = await host.communicate()
    assert host.returncode == 1
    assert b"ValueError: settings are missing" in errors
