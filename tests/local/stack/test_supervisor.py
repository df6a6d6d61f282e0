"""The whole stack: every part answers, workers can be killed, and nothing is left behind."""

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from azure.cosmos.aio import CosmosClient
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient

from local.stack import EMULATOR_KEY, FREE, ControlFailed, PartFailed, Stack
from local.stack.launcher import ROOT

DEADLINE_SECONDS = 60.0
"""For a busy machine, not an expectation."""

APP = """
import os
import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)

@app.route(route="setting/{name}", methods=["GET"])
async def setting(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse(os.environ.get(req.route_params["name"], ""))
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """The folder of an app that answers its own settings."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "function_app.py").write_text(APP)
    (folder / "host.json").write_text('{"version": "2.0"}')
    return folder


@pytest.fixture(autouse=True)
async def deadline() -> AsyncIterator[None]:
    """No test of this file waits for ever."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        yield


async def read_setting(stack: Stack, name: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"{stack.host.url}/api/setting/{name}") as response:
        return await response.text()


async def test_an_app_is_led_to_the_services_and_its_worker_can_be_killed(app: Path, tmp_path: Path) -> None:
    """Settings arrive in the worker; after SIGKILL another worker takes over."""
    async with Stack.running(app_dir=app, settings={"Colour": "green"}, logs=tmp_path) as stack:
        assert await read_setting(stack, "ServiceBusConnection") == stack.service_bus.connection_string
        assert await read_setting(stack, "CosmosConnection") == stack.cosmos.connection_string
        assert await read_setting(stack, "Colour") == "green"
        killed = await stack.host.kill_worker()
        successor = await stack.host.wait_running(after=killed)
        assert successor.worker_pid != killed.worker_pid
        assert successor.functions == ("setting",)
        assert await read_setting(stack, "Colour") == "green"


async def test_an_app_that_cannot_be_loaded_is_quoted(app: Path, tmp_path: Path) -> None:
    """An import error is the commonest reason for "no functions found"; here it is seen at once."""
    (app / "function_app.py").write_text("import nothing_of_this_name")
    with pytest.raises(PartFailed, match=r"(?s)host ended .*nothing_of_this_name"):
        async with Stack.running(app_dir=app, logs=tmp_path):
            pytest.fail("a stack without its app must not look as if it ran")


async def test_broker_counts_and_its_clock_moves(tmp_path: Path) -> None:
    """The counters are the broker's own, and an id is forgotten once the window has passed."""
    async with Stack.running(host=False, logs=tmp_path) as stack:
        async with (
            ServiceBusClient.from_connection_string(stack.service_bus.connection_string) as client,
            client.get_queue_sender("orders") as sender,
        ):
            for _ in range(2):
                await sender.send_messages(ServiceBusMessage(b"{}", message_id="1001/placed"))
            assert (await stack.service_bus.statistics())["orders"].waiting == 1
            await stack.service_bus.advance_clock(601)
            await sender.send_messages(ServiceBusMessage(b"{}", message_id="1001/placed"))
        orders = (await stack.service_bus.statistics())["orders"]
        assert (orders.sent, orders.dropped_as_duplicate, orders.waiting) == (3, 1, 2)
        with pytest.raises(LookupError, match="without a host"):
            stack.host  # noqa: B018


async def test_database_holds_a_request_and_records_it(tmp_path: Path) -> None:
    """The typed client speaks the database's control language."""
    async with Stack.running(host=False, logs=tmp_path) as stack:
        async with CosmosClient(stack.cosmos.endpoint, EMULATOR_KEY) as client:
            orders = client.get_database_client("retail").get_container_client("orders")
            await stack.cosmos.fault(operation="Create", partition_key="1001", when="before", hold=True)
            creating = asyncio.create_task(orders.create_item({"id": "1001", "orderId": "1001"}))
            while not (held := await stack.cosmos.holds()):  # noqa: ASYNC110 - it is another process that holds
                await asyncio.sleep(0.02)
            assert held[0]["partition_key"] == ["1001"]
            await stack.cosmos.release(held[0]["n"])
            await creating
        (created,) = [each for each in await stack.cosmos.requests("orders") if each.partition_key]
        assert (created.operation, created.partition_key, created.status) == ("Create", ("1001",), 201)
        with pytest.raises(ControlFailed, match="cosmos refused POST /_local/faults: 400"):
            await stack.cosmos.fault(operation="Create")


async def test_a_dead_part_is_noticed(tmp_path: Path) -> None:
    """`make up` says which part ended instead of running on without it."""
    async with Stack.running(host=False, logs=tmp_path) as stack:
        failure = asyncio.create_task(stack.failure())
        await asyncio.sleep(0)
        await next(part for part in stack.parts if part.name == "cosmos").stop()
        assert str(await failure).startswith("cosmos ended by itself")


async def test_the_command_runs_until_ctrl_c_and_leaves_nothing(app: Path) -> None:
    """Every address that it printed is closed afterwards, and the exit code is the shell's."""
    command = (sys.executable, "-m", "local.stack", "--free-ports", "--app", str(app))
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        printed = (await process.stdout.readuntil(b"Ctrl-C")).decode()
        process.send_signal(signal.SIGINT)
        assert b"Stopped." in await process.stdout.read()
        assert await process.wait() == 128 + signal.SIGINT
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    ports = {int(port) for port in re.findall(r"(?:127\.0\.0\.1|localhost):(\d+)", printed)}
    assert len(ports) == len(FREE.__slots__)
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
