"""The broker as a program, over its control endpoint, and as a part of the stack."""

import asyncio
import re
import signal
import sys
from pathlib import Path

import aiohttp
from azure.eventhub import EventData
from azure.eventhub.aio import EventHubProducerClient

from local.event_hubs import EventHubs
from local.stack import PartitionStatistics, Stack

from ..amqp.client import connected
from .conftest import DAY, HUB

PROJECT = Path(__file__).parents[3]
START_UP = 20.0  # seconds, on a machine that is busy with other tests
STOCK = "stock-movements"  # the hub of the project's own topology
RETENTION_DAYS = 7  # of that hub


async def test_control() -> None:
    """Readiness, time, statistics and dropped connections, as the other parts of the machine use them."""
    async with (
        EventHubs.serving({"eventHubs": {"h": HUB}}) as hubs,
        aiohttp.ClientSession(f"http://127.0.0.1:{hubs.control_port}") as http,
        connected(hubs.amqp_port) as client,
    ):
        await client.open()
        async with http.get("/ready") as response:
            assert await response.json() == {"amqp_port": hubs.amqp_port}
        before = hubs.clock.now()
        async with http.post("/clock", json={"advance": DAY}) as response:
            assert response.status == 200
        assert (hubs.clock.now() - before).total_seconds() >= DAY
        async with http.get("/statistics") as response:
            assert (await response.json())["hubs"] == hubs.statistics()
        async with http.post("/connections/drop") as response:
            assert await response.json() == {"dropped": 1}


async def test_program() -> None:
    """The program says where it listens, serves the project's topology, and stops on a signal with exit code 0."""
    arguments = [sys.executable, "-m", "local.event_hubs", "--port", "0", "--control-port", "0"]
    process = await asyncio.create_subprocess_exec(*arguments, cwd=PROJECT, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_UP):
            line = (await process.stdout.readline()).decode()
            match = re.fullmatch(r"event-hubs ready amqp=127\.0\.0\.1:(\d+) control=127\.0\.0\.1:(\d+)\n", line)
            assert match is not None, line
            async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{match[2]}/statistics") as response:
                assert [each["id"] for each in (await response.json())["hubs"][STOCK]["partitions"]] == list("0123")
            process.send_signal(signal.SIGTERM)
            await process.communicate()  # to the end of its output, so that nothing of it outlives the event loop
            assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def test_in_the_stack(tmp_path: Path) -> None:
    """The stack tells apps where the stream is, counts its events, and moves its clock."""
    async with Stack.running(host=False, logs=tmp_path) as stack:
        connection_string = stack.services.settings()["EventHubConnection"]
        async with EventHubProducerClient.from_connection_string(connection_string, eventhub_name=STOCK) as producer:
            await producer.send_batch([EventData("1"), EventData("2")], partition_id="1")
            statistics = (await stack.event_hubs.statistics())[STOCK]
            assert (statistics.sent, statistics.delivered) == (2, 0)
            assert statistics.partitions[1] == PartitionStatistics("1", 2, 1, 0, 0)
            await stack.event_hubs.advance_clock(RETENTION_DAYS * DAY)
            assert (await stack.event_hubs.statistics())[STOCK].partitions[1] == PartitionStatistics("1", 0, 1, 0, 0)
            assert await stack.event_hubs.drop_connections() >= 1
