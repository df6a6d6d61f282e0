"""The start: who is let in, and which containers are refused with which words."""

import asyncio
import base64
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from aiohttp import web
from azure.cosmos import PartitionKey
from azure.cosmos.documents import DatabaseAccount

from shared.idempotency import TransientFailure
from shared.stores.cosmos_account import Account, ContainerUnusable, faults_of, open_client, open_container

from .conftest import Database

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def refused(database: Database, path: str, default_ttl: int | None) -> str:
    """What is said of a container made so."""
    name = uuid4().hex
    await database.client.get_database_client("retail").create_container(
        name, PartitionKey(path=path), default_ttl=default_ttl
    )
    with pytest.raises(ContainerUnusable) as unusable:
        await open_container(database.client, "retail", name, partition_key_path="/orderId")
    assert name in str(unusable.value)
    return str(unusable.value)


async def test_another_partition_key_is_refused(database: Database) -> None:
    """Copies of a message would miss each other's marker."""
    text = await refused(database, "/id", -1)
    assert "partitioned by /id" in text
    assert "topology says /orderId" in text
    assert "--partition-key-path /orderId" in text


async def test_ttl_off_is_refused(database: Database) -> None:
    """Item TTLs are inert then, and markers stay for ever."""
    text = await refused(database, "/orderId", None)
    assert "time to live is off" in text
    assert "--ttl -1" in text


async def test_a_ttl_for_all_documents_is_refused(database: Database) -> None:
    """Business documents would vanish with it."""
    text = await refused(database, "/orderId", 3600)
    assert "expire after 3600 s" in text
    assert "--ttl -1" in text


async def test_every_fault_is_told_at_once(database: Database) -> None:
    """Nobody wants to deploy once for every fault."""
    text = await refused(database, "/customerId", None)
    assert "/customerId" in text
    assert "time to live" in text


async def test_several_write_regions_are_refused() -> None:
    """Two regions would both let a first writer win."""
    account = DatabaseAccount()
    properties = {"partitionKey": {"paths": ["/orderId"]}, "defaultTtl": -1}
    account._WritableLocations = [{"name": "West Europe", "databaseAccountEndpoint": "https://w"}]
    assert faults_of(properties, account, "/orderId") == []
    account._WritableLocations.append({"name": "North Europe", "databaseAccountEndpoint": "https://n"})
    (fault,) = faults_of(properties, account, "/orderId")
    assert "West Europe, North Europe" in fault
    assert "--enable-multiple-write-locations false" in fault


async def test_a_missing_container_is_told(database: Database) -> None:
    """With how to make it."""
    with pytest.raises(ContainerUnusable, match="az cosmosdb sql container create"):
        await open_container(database.client, "retail", "nowhere", partition_key_path="/orderId")


async def test_a_wrong_key_is_told(database: Database) -> None:
    """With what to check, and without the key."""
    wrong = base64.b64encode(b"wrong").decode()
    account = dataclasses.replace(Account.from_connection_string(database.server.connection_string), key=wrong)
    with pytest.raises(ContainerUnusable, match="Access was refused") as unusable:
        async with open_client(account):
            pass
    assert wrong not in f"{unusable.value} {account}"


async def test_an_account_that_does_not_answer_is_an_outage(unused_tcp_port: int) -> None:
    """Nobody listens: a person need not change anything, so it is no fault of the configuration."""
    with pytest.raises(TransientFailure):
        async with open_client(Account(f"http://127.0.0.1:{unused_tcp_port}/", key="a2V5")):
            pass


@asynccontextmanager
async def identities(status: int) -> AsyncIterator[tuple[str, list[dict[str, str]]]]:
    """A managed identity endpoint as App Service has it, and what it was asked."""
    asked: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(dict(request.query))
        token = {"access_token": "token", "expires_on": "4102444800", "resource": "r", "token_type": "Bearer"}
        return web.json_response(token if status == 200 else {"error": "no"}, status=status)

    app = web.Application()
    app.router.add_get("/token", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/token", asked
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(("status", "error"), [(200, TransientFailure), (400, ContainerUnusable)])
async def test_without_a_key_the_managed_identity_is_asked(
    monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int, status: int, error: type[Exception]
) -> None:
    """The one whose client id is given. Without a token nobody is let in; with one, the account must still answer."""
    async with identities(status) as (endpoint, asked):
        monkeypatch.setenv("IDENTITY_ENDPOINT", endpoint)
        monkeypatch.setenv("IDENTITY_HEADER", "secret")
        with pytest.raises(error):
            async with open_client(Account(f"https://127.0.0.1:{unused_tcp_port}/", client_id="the-identity")):
                pass
    assert {query["client_id"] for query in asked} == {"the-identity"}


async def test_a_client_lets_go_of_everything(database: Database) -> None:
    """No task and no connection outlives it."""
    before = asyncio.all_tasks()
    account = Account.from_connection_string(database.server.connection_string)
    async with open_client(account) as client:
        container = await open_container(client, "retail", "orders", partition_key_path="/orderId")
    await asyncio.sleep(0)
    assert not [task for task in asyncio.all_tasks() - before if "azure" in repr(task)]
    with pytest.raises(ValueError, match="closed"):
        await container.read()


@pytest.mark.parametrize("text", ["", "AccountEndpoint=https://a/", "AccountKey=x", "nonsense"])
async def test_a_connection_string_that_lacks_something(text: str) -> None:
    """The part that is missing is named."""
    with pytest.raises(ValueError, match="lacks Account"):
        Account.from_connection_string(text)


async def test_a_connection_string_is_read() -> None:
    """Keys end in equals signs."""
    account = Account.from_connection_string("AccountEndpoint=https://a:443/;AccountKey=abc==;")
    assert (account.endpoint, account.key) == ("https://a:443/", "abc==")
