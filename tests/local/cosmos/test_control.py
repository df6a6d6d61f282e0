"""The controls over HTTP, and the process as it is started from a shell."""

import asyncio
import base64
import email.utils
import hashlib
import hmac
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from azure.cosmos.aio import ContainerProxy, CosmosClient

from local.cosmos import EMULATOR_KEY, Cosmos

from .conftest import TOPOLOGY
from .outcomes import OK, ORDER, Refused, create, document, outcome
from .processes import started


@pytest.fixture
async def control(cosmos: Cosmos) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(f"{cosmos.endpoint}_local/") as session:
        yield session


async def ask(session: aiohttp.ClientSession, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    async with session.request(method, path, json=body) as response:
        return response.status, await response.json()


async def test_ready(control: aiohttp.ClientSession) -> None:
    """A supervisor can wait for it."""
    assert await ask(control, "GET", "ready") == (200, {"ready": True})


async def test_the_clock_is_advanced(control: aiohttp.ClientSession, orders: ContainerProxy) -> None:
    """TTLs follow at once; time never goes back."""
    await orders.create_item(document("a", ttl=3600))
    status, body = await ask(control, "POST", "clock", {"advance": 3600})
    assert status == 200
    assert set(body) == {"now"}
    assert await outcome(orders.read_item("a", ORDER)) == Refused(404)
    assert (await ask(control, "POST", "clock", {"advance": -1}))[0] == 400
    assert (await ask(control, "POST", "clock", {}))[0] == 400


async def test_the_request_log(control: aiohttp.ClientSession, orders: ContainerProxy) -> None:
    """Requests are listed with what they cost, filtered by container, and forgotten on demand."""
    await orders.execute_item_batch([create("a"), create("b")], ORDER)
    _, log = await ask(control, "GET", "requests?container=orders&operation=Batch")
    (entry,) = log["requests"]
    assert entry.pop("n") > 0
    assert entry == {
        "operation": "Batch",
        "container": "orders",
        "partition_key": [ORDER],
        "status": 200,
        "substatus": 0,
        "operations": 2,
        "charge": 10.0,
        "answered": True,
    }
    assert log["totals"] == {"Batch": 1}
    assert (await ask(control, "GET", "requests?container=customers"))[1] == {"requests": [], "totals": {}}
    assert (await ask(control, "DELETE", "requests"))[1] == {"requests": [], "totals": {}}


async def test_faults_and_holds(cosmos: Cosmos, control: aiohttp.ClientSession, orders: ContainerProxy) -> None:
    """A fault is set, seen and used up; a hold is seen and released."""
    fault = {"operation": "Create", "container": "orders", "partition_key": ORDER, "status": 449, "times": 1}
    _, listed = await ask(control, "POST", "faults", fault)
    assert fault.items() <= listed["faults"][0].items()
    assert (await ask(control, "POST", "faults", {"status": 7}))[0] == 400
    assert await outcome(orders.create_item(document("a"))) == Refused(449)
    assert (await ask(control, "GET", "faults"))[1] == {"faults": []}

    await ask(control, "POST", "faults", {"operation": "Create", "hold": True})
    creation = asyncio.create_task(outcome(orders.create_item(document("a"))))
    await cosmos.holds.until(1)
    held = (await ask(control, "GET", "holds"))[1]["holds"]
    assert held[0]["when"] == "before"
    assert (await ask(control, "POST", "holds/release", {"n": held[0]["n"]}))[1] == {"released": 1}
    assert await creation == OK
    assert (await ask(control, "POST", "holds/release"))[1] == {"released": 0}


async def test_what_is_not_there_is_404(control: aiohttp.ClientSession) -> None:
    """A misspelt control is not mistaken for a request to the database."""
    assert (await ask(control, "GET", "fault"))[0] == 404


@pytest.mark.parametrize("path", ["dbs/retail/users", "dbs/retail/colls/orders/sprocs", "media"])
async def test_what_is_not_supported_is_501(cosmos: Cosmos, path: str) -> None:
    """Stored procedures, users and the like are declined in so many words."""
    date = email.utils.formatdate(usegmt=True)
    segments = path.split("/")
    text = f"get\n{segments[-1]}\n{'/'.join(segments[:-1])}\n{date.lower()}\n\n"
    digest = hmac.new(base64.b64decode(cosmos.key), text.encode(), hashlib.sha256).digest()
    token = f"type=master&ver=1.0&sig={base64.b64encode(digest).decode()}"
    headers = {"authorization": quote(token, safe=""), "x-ms-date": date}
    async with aiohttp.ClientSession() as session, session.get(cosmos.endpoint + path, headers=headers) as response:
        assert response.status == 501


@pytest.mark.parametrize(("arguments", "databases"), [((), ["retail"]), (("--topology", ""), [])])
async def test_the_process_makes_what_the_app_needs_unless_told_otherwise(
    arguments: tuple[str, ...], databases: list[str]
) -> None:
    """As the brokers do: the topology of the checkout, or an empty account for whoever asks for one."""
    async with started("--port", "0", *arguments) as (_, endpoint), CosmosClient(endpoint, EMULATOR_KEY) as client:
        assert [database["id"] async for database in client.list_databases()] == databases


async def test_a_process_that_cannot_start_says_why(tmp_path: Path) -> None:
    """In one line, with status 1."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "local.cosmos", "--port", "0", "--topology", str(tmp_path / "nowhere.json")),
        cwd=TOPOLOGY.parents[1],
        stderr=asyncio.subprocess.PIPE,
    )
    _, told = await process.communicate()
    assert (process.returncode, told.decode().count("\n")) == (1, 1)
    assert "nowhere.json" in told.decode()


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
async def test_the_process_stops_cleanly(name: signal.Signals) -> None:
    """It says where it listens, and ends with status 0 when told to, even while a request is held."""
    async with started("--port", "0", "--topology", str(TOPOLOGY)) as (process, endpoint):
        async with CosmosClient(endpoint, EMULATOR_KEY) as client, aiohttp.ClientSession(endpoint) as session:
            orders = client.get_database_client("retail").get_container_client("orders")
            await ask(session, "POST", "/_local/faults", {"operation": "Create", "hold": True})
            creation = asyncio.create_task(outcome(orders.create_item(document("a"))))
            while not (await ask(session, "GET", "/_local/holds"))[1]["holds"]:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.01)
            creation.cancel()
        process.send_signal(name)
        async with asyncio.timeout(20):
            assert await process.wait() == 0
