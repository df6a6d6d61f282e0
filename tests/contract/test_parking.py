"""Parking in a real storage emulator: durable on return, once, whatever came, and never silently not."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from hypothesis import given, settings
from hypothesis import strategies as st

from local.stack import PartFailed
from local.stack.azurite import ACCOUNT_KEY, start_azurite
from local.stack.launcher import Launcher
from shared.idempotency import TransientFailure
from shared.parking.rows import row_of
from shared.parking.storage_account import Clients, KeyedAccount, connect
from shared.parking.table import TableParkingLot
from tests import parked

NOBODY = "http://127.0.0.1:1/devstoreaccount1"
"""An endpoint at which nothing listens."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def storage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The connection string of a storage emulator. Skips on a machine without Node, fails in a pipeline."""
    async with AsyncExitStack() as exits:
        session = await exits.enter_async_context(aiohttp.ClientSession())
        launcher = Launcher(exits, session, tmp_path_factory.mktemp("azurite"))
        try:
            azurite = await start_azurite(launcher, (0, 0, 0))
        except PartFailed as reason:
            if "CI" in os.environ:
                raise
            pytest.skip(str(reason))
        yield azurite.connection_string


class Yard:
    """A parking lot with clients of the test's own beside it, and a consumer's name that nobody else uses."""

    def __init__(self, connection_string: str, **changes: Any) -> None:
        self.consumer = uuid4().hex
        self.clients = connect(KeyedAccount(connection_string))
        self.lot = TableParkingLot(lambda: connect(KeyedAccount(connection_string)), **changes)

    async def park(self, **changes: Any) -> bool:
        return await self.lot.park(parked.event(**{"consumer": self.consumer} | changes))

    async def rows(self) -> list[dict[str, Any]]:
        mine = self.clients.table.query_entities("Consumer eq @consumer", parameters={"consumer": self.consumer})
        with suppress(ResourceNotFoundError):  # nobody has parked anything yet
            return [dict(row) async for row in mine]
        return []

    async def blob(self, name: str) -> bytes:
        download = await self.clients.container.download_blob(name)
        return bytes(await download.readall())

    async def blobs(self) -> list[str]:
        return [name async for name in self.clients.container.list_blob_names(name_starts_with=self.consumer)]

    async def close(self) -> None:
        await self.lot.close()
        await self.clients.close()


@asynccontextmanager
async def opened(connection_string: str, **changes: Any) -> AsyncIterator[Yard]:
    yard = Yard(connection_string, **changes)
    try:
        yield yard
    finally:
        await yard.close()


@pytest.fixture
async def yard(storage: str) -> AsyncIterator[Yard]:
    async with opened(storage) as yard:
        yield yard


def leading(storage: str, endpoint: str, url: str) -> str:
    """The connection string with one of its endpoints led elsewhere."""
    return re.sub(rf"{endpoint}=[^;]*", f"{endpoint}={url}", storage)


async def test_a_parked_event_is_found_with_all_that_came(yard: Yard) -> None:
    """Reason, place and message in columns, the body byte for byte."""
    await yard.park(body=b"\x1f\x8b\x00\xff", properties={"tenant": "a"})
    [row] = await yard.rows()
    assert (row["Reason"], row["Description"]) == ("Malformed", "quantity: Input should be a decimal number")
    assert (row["Hub"], row["Partition"], row["SequenceNumber"].value) == ("stock-movements", "2", 41)
    assert row["Body"] == b"\x1f\x8b\x00\xff"
    assert json.loads(row["Message"])["properties"] == {"tenant": "a"}


async def test_an_event_parked_twice_is_one_row(yard: Yard) -> None:
    """Read again, or parked by two workers at once; what people noted on the row stays. Only the first was new."""
    assert await yard.park()
    [row] = await yard.rows()
    await yard.clients.table.update_entity({**row, "Note": "Ada looks into it"})
    assert await asyncio.gather(*(yard.park() for _ in range(3))) == [False] * 3
    [row] = await yard.rows()
    assert row["Note"] == "Ada looks into it"


async def test_a_reused_id_with_other_content_has_a_row_of_its_own(yard: Yard) -> None:
    """Neither replaces the other, wherever they stood in the stream."""
    assert await yard.park()
    assert await yard.park(sequence_number=42)
    assert await yard.park(body=b"[]")
    assert len(await yard.rows()) == 3


@pytest.mark.parametrize("size", [64 * 1024 + 1, 1024 * 1024])
async def test_a_body_beyond_a_property_is_in_a_blob(yard: Yard, size: int) -> None:
    """From the first byte too many to as large as an event may be. Parked twice it is one blob."""
    body = os.urandom(size)
    for _ in range(2):
        await yard.park(body=body)
    [row] = await yard.rows()
    assert "Body" not in row
    assert await yard.blobs() == [row["BodyBlob"]]
    assert await yard.blob(row["BodyBlob"]) == body


async def test_the_largest_body_of_a_row_and_properties_beyond_one(yard: Yard) -> None:
    """Both limits at once."""
    properties = {f"p{n}": "é" * 1000 for n in range(200)}
    await yard.park(body=b"x" * 65_536, properties=properties)
    [row] = await yard.rows()
    assert row["Body"] == b"x" * 65_536
    assert json.loads(await yard.blob(row["MessageBlob"]))["properties"] == properties


@pytest.mark.parametrize(("size", "in_row"), [(32 * 1024, True), (32 * 1024 + 1, False)])
async def test_a_message_is_in_the_row_as_long_as_it_fits(yard: Yard, size: int, in_row: bool) -> None:
    """The longest text that a property takes, and one character more."""
    frame = len(row_of(parked.event(subject="")).entity["Message"])
    await yard.park(subject="x" * (size - frame))
    [row] = await yard.rows()
    assert ("Message" in row, "MessageBlob" in row) == (in_row, not in_row)


any_text = st.text(st.characters(codec=None), max_size=60)


@given(
    st.fixed_dictionaries(
        {
            "hub": any_text,
            "source": any_text,
            "message_id": any_text,
            "description": any_text,
            "subject": any_text,
            "properties": st.dictionaries(any_text, any_text, max_size=2),
            "body": st.sampled_from([b"", b"{}", b"x" * 70_000]),
        }
    )
)
@settings(max_examples=30)
async def test_whatever_a_producer_wrote_can_be_parked(storage: str, changes: dict[str, Any]) -> None:
    """An event that could not be parked would hold its partition for ever."""
    async with opened(storage) as yard:
        await yard.park(**changes)
        [row] = await yard.rows()
        assert json.loads(row["Message"])["messageId"] == changes["message_id"]
        body = await yard.blob(row["BodyBlob"]) if "BodyBlob" in row else row["Body"]
        assert body == changes["body"]


async def test_what_is_missing_is_made_by_whoever_comes_first(yard: Yard) -> None:
    """Table and container, by many workers at once, and again after somebody removed them."""
    for _ in range(2):
        with suppress(ResourceNotFoundError):
            await yard.clients.table.delete_table()
        with suppress(ResourceNotFoundError):
            await yard.clients.container.delete_container()
        await asyncio.gather(*(yard.park(sequence_number=n, body=b"x" * 70_000) for n in range(6)))
        assert len(await yard.rows()) == 6
        assert len(await yard.blobs()) == 6


async def test_storage_that_is_down_is_transient(storage: str) -> None:
    """Told at once and not swallowed: the trigger must keep the batch."""
    nowhere = leading(leading(storage, "TableEndpoint", NOBODY), "BlobEndpoint", NOBODY)
    async with opened(nowhere) as yard:
        for body in (b"{}", b"x" * 70_000):
            with pytest.raises(TransientFailure, match="no answer"):
                await yard.park(body=body)


async def test_a_row_is_written_after_its_blob(storage: str) -> None:
    """With blobs down there is no row: it would tell of a body that is nowhere."""
    async with opened(leading(storage, "BlobEndpoint", NOBODY)) as yard:
        with pytest.raises(TransientFailure, match="blob"):
            await yard.park(body=b"x" * 70_000)
        assert await yard.rows() == []


async def test_parking_goes_on_where_it_stopped(storage: str, yard: Yard) -> None:
    """With tables down the blob is there already, and the next try writes the row."""
    async with opened(leading(storage, "TableEndpoint", NOBODY)) as broken:
        with pytest.raises(TransientFailure, match="row"):
            await broken.park(consumer=yard.consumer, body=b"x" * 70_000)
    assert len(await yard.blobs()) == 1
    assert await yard.rows() == []
    await yard.park(body=b"x" * 70_000)
    [row] = await yard.rows()
    assert await yard.blobs() == [row["BodyBlob"]]


@asynccontextmanager
async def answering(status: int = 500, *, silent: bool = False) -> AsyncIterator[str]:
    """A table service that answers every request alike, or not before the end."""
    ended = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        if silent:
            await ended.wait()
        code = {"odata.error": {"code": "Made", "message": {"lang": "en", "value": "made up"}}}
        return web.json_response(code, status=404 if request.method == "GET" and status == 409 else status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        name = f"AccountName=devstoreaccount1;AccountKey={ACCOUNT_KEY}"
        yield f"{name};TableEndpoint=http://127.0.0.1:{port}/devstoreaccount1;BlobEndpoint={NOBODY};"
    finally:
        ended.set()
        await runner.cleanup()


@pytest.mark.parametrize("status", [401, 403, 404, 408, 429, 500, 503])
async def test_what_may_pass_or_be_mended_is_transient(status: int) -> None:
    """Throttling, outages, a role that is not assigned yet."""
    async with answering(status) as service, opened(service) as yard:
        with pytest.raises(TransientFailure, match=str(status)):
            await yard.park()


async def test_a_conflict_without_a_row_is_no_success() -> None:
    """A table that is being deleted answers 409 to everything; taking that for "parked" would lose the event."""
    async with answering(409) as service, opened(service) as yard:
        with pytest.raises(TransientFailure):
            await yard.park()


@pytest.mark.parametrize("status", [400, 413])
async def test_a_request_that_will_always_be_refused_is_a_fault_of_ours(status: int) -> None:
    """It is raised as it is, for a programmer to see, and not swallowed either."""
    async with answering(status) as service, opened(service) as yard:
        with pytest.raises(HttpResponseError):
            await yard.park()


async def test_storage_that_says_nothing_is_given_up() -> None:
    """Every write has a deadline."""
    async with answering(silent=True) as service, opened(service, seconds=0.2) as yard:
        with pytest.raises(TransientFailure, match="TimeoutError"):
            await yard.park()


async def test_a_lot_that_cannot_be_opened_is_opened_by_the_next_event(storage: str, yard: Yard) -> None:
    """A missing setting is an outage until it is there."""
    answers: list[Any] = [TransientFailure("AzureWebJobsStorage is missing"), connect(KeyedAccount(storage))]

    def try_to_connect() -> Clients:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    lot = TableParkingLot(try_to_connect)
    with pytest.raises(TransientFailure, match="missing"):
        await lot.park(parked.event(consumer=yard.consumer))
    await lot.park(parked.event(consumer=yard.consumer))
    assert len(await yard.rows()) == 1
    await lot.close()
