"""The broker as a program, and its control over HTTP."""

import asyncio
import re
import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from local.service_bus import ServiceBus

from ..amqp.client import connected
from .conftest import QUEUE, TOPOLOGY

PROJECT = Path(__file__).parents[3]
START_UP = 20.0  # seconds, on a machine that is busy with other tests


async def test_control() -> None:
    """Readiness, time, statistics and dropped connections, as the other parts of the machine use them."""
    async with (
        ServiceBus.serving(TOPOLOGY) as bus,
        aiohttp.ClientSession(f"http://127.0.0.1:{bus.control_port}") as http,
        connected(bus.amqp_port) as client,
    ):
        await client.open()
        async with http.get("/ready") as response:
            assert await response.json() == {"amqp_port": bus.amqp_port}
        async with http.post("/clock", json={"advance": 3600}) as response:
            now = datetime.fromisoformat((await response.json())["now"])
        assert abs(now - bus.clock.now()) < timedelta(seconds=60)
        async with http.get("/statistics") as response:
            queues = (await response.json())["queues"]
        assert queues == bus.statistics()
        assert {"sent", "deliveries", "dead_letter"} <= queues[QUEUE].keys()
        async with http.post("/connections/drop") as response:
            assert await response.json() == {"dropped": 1}


@pytest.mark.parametrize(
    "body", ["", "[]", '{"advance": "1"}', '{"advance": -1}', '{"advance": 1e300}', '{"advance": NaN}']
)
async def test_bad_clock_request(body: str) -> None:
    """A clock that cannot be moved as asked stays where it is, and says why."""
    async with (
        ServiceBus.serving(TOPOLOGY) as bus,
        aiohttp.ClientSession(f"http://127.0.0.1:{bus.control_port}") as http,
        http.post("/clock", data=body) as response,
    ):
        assert response.status == 400
        assert "error" in await response.json()


async def test_port_is_taken() -> None:
    """A second broker on the same port fails to start, and leaves nothing behind."""
    async with ServiceBus.serving(TOPOLOGY) as bus:
        with pytest.raises(OSError, match="in use"):
            async with ServiceBus.serving(TOPOLOGY, control_port=bus.control_port):
                pass
        with pytest.raises(OSError, match="in use"):
            async with ServiceBus.serving(TOPOLOGY, port=bus.amqp_port):
                pass


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
async def test_program(signum: signal.Signals) -> None:
    """The program says where it listens, serves the project's topology, and stops on a signal with exit code 0."""
    arguments = [sys.executable, "-m", "local.service_bus", "--port", "0", "--control-port", "0"]
    process = await asyncio.create_subprocess_exec(*arguments, cwd=PROJECT, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_UP):
            line = (await process.stdout.readline()).decode()
            match = re.fullmatch(r"service-bus ready amqp=127\.0\.0\.1:(\d+) control=127\.0\.0\.1:(\d+)\n", line)
            assert match is not None, line
            async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{match[2]}/statistics") as response:
                assert QUEUE in (await response.json())["queues"]
            process.send_signal(signum)
            await process.communicate()  # to the end of its output, so that nothing of it outlives the event loop
            assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def test_program_without_topology() -> None:
    """A broker that cannot start says why in one line, and exits with 1."""
    arguments = [sys.executable, "-m", "local.service_bus", "--topology", "missing.json"]
    process = await asyncio.create_subprocess_exec(*arguments, cwd=PROJECT, stderr=asyncio.subprocess.PIPE)
    async with asyncio.timeout(START_UP):
        _, errors = await process.communicate()
    assert process.returncode == 1
    assert errors.decode().startswith("service-bus cannot start: ")
    assert errors.count(b"\n") == 1
