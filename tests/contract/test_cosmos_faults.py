"""What goes wrong on the way to Cosmos DB, and what each store call makes of it. Real SDK, real sockets."""

import asyncio
import functools
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from local.cosmos import Cosmos, Fault, When
from shared.idempotency import (
    Create,
    Delete,
    Doubtful,
    Event,
    PreconditionFailed,
    StoreCall,
    TooLarge,
    TransientFailure,
)
from shared.stores.cosmos import CosmosStore
from shared.stores.cosmos_account import Account, open_client, open_container

from .conftest import TOPOLOGY, Database, Subject

pytestmark = pytest.mark.asyncio(loop_scope="package")

_SOON = 0.2
"""Seconds: a deadline that a test can wait for."""
_LATE = 400
"""Milliseconds: an answer after it."""


def batch_fault(**effect: Any) -> Fault:
    return Fault(operation="Batch", **effect)


async def failed_commit(subject: Subject) -> TransientFailure:
    with pytest.raises(TransientFailure) as failed:
        await subject.store.commit(subject.partition, [Create("marker", {}), Create("order", {})])
    return failed.value


async def is_written(subject: Subject) -> list[bool]:
    return [await subject.store.read(subject.partition, id) is not None for id in ("marker", "order")]


def statuses(events: list[Event]) -> list[int]:
    return [event.status for event in events if isinstance(event, StoreCall)]


@pytest.mark.parametrize("status", [408, 410, 429, 449, 500, 503, 403])
async def test_a_refused_operation_is_transient(database: Database, cosmos: Subject, status: int) -> None:
    """Nothing of the batch was written, whatever the code: never a conflict, never in doubt, and it works again."""
    database.server.faults.add(batch_fault(status=status, operation_index=0))
    failure = await failed_commit(cosmos)
    assert type(failure) is TransientFailure
    assert statuses(cosmos.events) == [status]
    assert await is_written(cosmos) == [False, False]
    await cosmos.store.commit(cosmos.partition, [Create("marker", {}), Create("order", {})])


@pytest.mark.parametrize("status", [429, 449, 401, 403])
async def test_a_commit_turned_away_is_transient(database: Database, cosmos: Subject, status: int) -> None:
    """Throttled or not let in: it was not executed, and it is the broker's message that waits, not a dead-letter."""
    database.server.faults.add(batch_fault(status=status))
    failure = await failed_commit(cosmos)
    assert type(failure) is TransientFailure
    assert statuses(cosmos.events) == [status]
    assert await is_written(cosmos) == [False, False]


async def test_the_wait_that_the_database_asks_for_is_told(database: Database, cosmos: Subject) -> None:
    """Milliseconds on the wire, seconds in the failure; and the SDK does not retry behind our back."""
    database.server.faults.add(batch_fault(status=429, substatus=3200, retry_after_ms=1500))
    assert (await failed_commit(cosmos)).retry_after == 1.5
    assert len(database.requests(cosmos.partition, "Batch")) == 1


@pytest.mark.parametrize("when", list(When))
@pytest.mark.parametrize("status", [408, 410, 500, 502])
async def test_a_commit_that_may_have_happened_is_doubtful(
    database: Database, cosmos: Subject, status: int, when: When
) -> None:
    """The same answer before and after the work: only the marker can tell."""
    database.server.faults.add(batch_fault(status=status, when=when))
    failure = await failed_commit(cosmos)
    assert type(failure) is Doubtful
    assert await is_written(cosmos) == [when is When.AFTER] * 2


async def test_a_lasting_503_is_doubtful_and_both_round_trips_are_told(database: Database, cosmos: Subject) -> None:
    """The SDK sends a commit again on 503: the one repetition that it does not let us switch off."""
    database.server.faults.add(batch_fault(status=503, times=2))
    assert type(await failed_commit(cosmos)) is Doubtful
    assert statuses(cosmos.events) == [503, 503]


@pytest.mark.parametrize("when", list(When))
async def test_a_cut_connection_is_doubtful(database: Database, cosmos: Subject, when: When) -> None:
    """The answer is lost, once and visibly: the SDK does not send the commit again."""
    database.server.faults.add(batch_fault(drop=True, when=when))
    assert type(await failed_commit(cosmos)) is Doubtful
    assert statuses(cosmos.events) == [0]
    assert len(database.requests(cosmos.partition, "Batch")) == 1
    assert await is_written(cosmos) == [when is When.AFTER] * 2


async def test_an_answer_after_the_deadline_is_doubtful(database: Database, cosmos: Subject) -> None:
    """Whoever waits longer than the deadline waits in vain."""
    cosmos.store = database.store(commit_seconds=_SOON, hook=cosmos.events.append)
    database.server.faults.add(batch_fault(delay_ms=_LATE, when=When.AFTER))
    assert type(await failed_commit(cosmos)) is Doubtful
    assert statuses(cosmos.events) == [0]


async def test_a_cancelled_commit_stays_cancelled(database: Database, cosmos: Subject) -> None:
    """A host that stops a function must not be answered with a failure; the round trip is told all the same."""
    database.server.faults.add(batch_fault(hold=True))
    commit = asyncio.create_task(cosmos.store.commit(cosmos.partition, [Create("marker", {})]))
    await database.server.holds.until(1)
    commit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await commit
    database.server.holds.release()
    assert statuses(cosmos.events) == [0]


async def test_a_request_that_the_database_finds_too_large(database: Database, cosmos: Subject) -> None:
    """Should its measure ever differ from ours, no retry helps either."""
    for place in ({}, {"operation_index": 0}):
        database.server.faults.add(batch_fault(status=413, **place))
        with pytest.raises(TooLarge):
            await cosmos.store.commit(cosmos.partition, [Create("marker", {})])


@pytest.mark.parametrize("place", [{}, {"operation_index": 0}])
async def test_a_request_that_makes_no_sense_is_raised_as_it_is(
    database: Database, cosmos: Subject, place: dict[str, int]
) -> None:
    """A programming error: nobody's retry and nobody's rejection."""
    database.server.faults.add(batch_fault(status=400, **place))
    with pytest.raises(HttpResponseError) as raised:
        await cosmos.store.commit(cosmos.partition, [Create("marker", {})])
    assert raised.value.status_code == 400
    assert raised.value.__cause__ is not raised.value


async def test_an_operation_that_finds_nothing_met_another_version(cosmos: Subject) -> None:
    """404 inside a batch: the document that was read is gone."""
    with pytest.raises(PreconditionFailed) as refused:
        await cosmos.store.commit(cosmos.partition, [Create("a", {}), Delete("gone", '"x"')])
    assert refused.value.index == 1
    assert statuses(cosmos.events) == [404]


@pytest.mark.parametrize(
    ("status", "substatus"), [(408, 0), (410, 0), (429, 0), (449, 0), (500, 0), (503, 0), (401, 0), (403, 0)]
)
async def test_a_failed_read_is_transient(database: Database, cosmos: Subject, status: int, substatus: int) -> None:
    """Never None: "not there" would mean "new"."""
    database.server.faults.add(Fault(operation="Read", status=status, substatus=substatus, times=9))
    with pytest.raises(TransientFailure) as failed:
        await cosmos.store.read(cosmos.partition, "marker")
    assert type(failed.value) is TransientFailure


async def test_a_read_of_a_missing_container_is_transient(database: Database, cosmos: Subject) -> None:
    """404 as well, and not the document's absence: a person makes the container while the messages wait."""
    await cosmos.store.commit(cosmos.partition, [Create("marker", {})])
    database.server.faults.add(Fault(operation="Read", status=404, substatus=1003))
    with pytest.raises(TransientFailure):
        await cosmos.store.read(cosmos.partition, "marker")


async def test_a_read_behind_its_bookmark_is_transient(cosmos: Subject) -> None:
    """A replica that has not seen what the bookmark saw must not answer; this also shows that the bookmark is sent."""
    await cosmos.store.commit(cosmos.partition, [Create("marker", {})])
    with pytest.raises(TransientFailure):
        await cosmos.store.read(cosmos.partition, "marker", bookmark="0:-1#999999999")
    with pytest.raises(TransientFailure):
        await cosmos.store.read_many(cosmos.partition, ["marker"], bookmark="0:-1#999999999")
    assert await cosmos.store.read(cosmos.partition, "marker", bookmark="0:-1#1") is not None
    assert await cosmos.store.read_many(cosmos.partition, ["marker"], bookmark="0:-1#1")


@pytest.mark.parametrize("fault", [{"drop": True}, {"delay_ms": _LATE}])
async def test_a_read_without_an_answer_is_transient(
    database: Database, cosmos: Subject, fault: dict[str, Any]
) -> None:
    """A lost connection, twice since aiohttp asks a second time by itself; or an answer after the deadline."""
    store = database.store(read_seconds=_SOON, hook=cosmos.events.append)
    database.server.faults.add(Fault(operation="Read", times=2, **fault))
    with pytest.raises(TransientFailure) as failed:
        await store.read(cosmos.partition, "marker")
    assert type(failed.value) is TransientFailure
    assert statuses(cosmos.events) == [0]


async def test_an_outage_ends_without_a_new_client(tmp_path: Path, unused_tcp_port: int) -> None:
    """The database goes away and comes back: commits are doubtful, reads transient, then both work again."""
    serving = functools.partial(Cosmos.serving, port=unused_tcp_port, db=tmp_path / "db", topology=TOPOLOGY)
    async with AsyncExitStack() as held:
        async with serving() as server:
            account = Account.from_connection_string(server.connection_string)
            client = await held.enter_async_context(open_client(account))
            container = await open_container(client, "retail", "orders", partition_key_path="/orderId")
            store = CosmosStore(container=container, partition_property="orderId")
            await store.commit("1", [Create("before", {})])
        with pytest.raises(Doubtful):
            await store.commit("1", [Create("meanwhile", {})])
        with pytest.raises(TransientFailure):
            await store.read("1", "before")
        async with serving():
            await store.commit("1", [Create("after", {})])
            there = [id for id in ("before", "meanwhile", "after") if await store.read("1", id)]
    assert there == ["before", "after"]


async def test_what_went_wrong_is_told_in_codes(database: Database, cosmos: Subject) -> None:
    """The text of an answer may quote a document and never reaches a log."""
    database.server.faults.add(batch_fault(status=449, substatus=7))
    failure = await failed_commit(cosmos)
    assert "449/7" in str(failure)
    assert "Injected" not in str(failure)
