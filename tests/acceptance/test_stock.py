"""A stream of stock movements: every movement counts once, poison is parked, and no checkpoint passes anything by."""

import json
from decimal import Decimal
from typing import Any

import pytest

from local.host.host import FunctionsHost
from local.stack.launcher import ROOT

from .desk import Desk
from .stream import Stream

pytestmark = pytest.mark.asyncio(loop_scope="session")


def movement(movement_id: str, sku: str, quantity: str = "1", **changes: Any) -> tuple[str, bytes]:
    """A movement's id and its body."""
    body = {
        "movementId": movement_id,
        "sku": sku,
        "warehouse": "north",
        "quantity": quantity,
        "occurredAt": "2026-01-31T12:00:00Z",
    }
    return movement_id, json.dumps(body | changes).encode()


def movements(sku: str, count: int) -> list[tuple[str, bytes]]:
    return [movement(f"{sku}-m{n}", sku, str(n + 1)) for n in range(count)]


async def level(desk: Desk, sku: str) -> tuple[Decimal, int, int]:
    """The level's sum and count, and how many movements were written."""
    found = await desk.documents("stock", sku)
    levels = found.get("level", [])
    assert len(levels) <= 1
    sums = (Decimal(levels[0]["sum"]), levels[0]["count"]) if levels else (Decimal(0), 0)
    return *sums, len(found.get("movement", []))


def of(count: int) -> tuple[Decimal, int, int]:
    """The level after that many of `movements`, each counted once."""
    return Decimal(count * (count + 1) // 2), count, count


async def test_movements_are_counted_once(desk, stream):
    """Ten movements of one article, some sent twice in one batch and all sent again later: the sum of one pass."""
    events = movements("S1", 10)
    await stream.send("S1", [*events, events[0], events[5]])
    await stream.until_read()
    await stream.send("S1", events)
    await stream.until_read()
    assert await level(desk, "S1") == of(10)
    assert await stream.parked("S1") == []


async def test_a_malformed_event_among_ten_is_parked_and_the_nine_are_processed(desk, stream):
    """The checkpoint moves on and nothing is lost: what cannot be read waits for a person, with body and reason."""
    events = movements("S2", 10)
    events[3] = (events[3][0], b'{"movementId": "S2-m3"')
    await stream.send("S2", events)
    await stream.until_read()
    (row,) = await stream.parked("S2")
    assert (row["Reason"], row["MessageId"], bytes(row["Body"])) == ("Malformed", "S2-m3", events[3][1])
    total, count, written = of(10)
    assert await level(desk, "S2") == (total - 4, count - 1, written - 1)


async def test_every_kind_of_poison_is_parked_with_its_reason(desk, stream):
    """No id, another article in the body, an id reused with other content: each parked, and the good one processed."""
    good = movement("S3-m0", "S3", "5")
    await stream.send("S3", [good])
    await stream.until_read()
    keyless = (None, movement("S3-m1", "S3")[1])
    elsewhere = movement("S3-m2", "other")
    reused = movement("S3-m0", "S3", "6")
    await stream.send("S3", [keyless, elsewhere, reused])
    await stream.until_read()
    reasons = sorted(row["Reason"] for row in await stream.parked("S3"))
    assert reasons == ["FingerprintMismatch", "IdentityMismatch", "NoStableKey"]
    assert await level(desk, "S3") == (Decimal(5), 1, 1)


async def test_an_event_of_a_megabyte_is_parked_in_a_blob(desk, stream):
    """Too large to process, not too large to keep: the body is in a blob, byte for byte."""
    event = movement("S4-m0", "S4", note="x" * 1_000_000)
    await stream.send("S4", [event])
    await stream.until_read()
    (row,) = await stream.parked("S4")
    assert row["Reason"] == "TooLarge"
    assert await stream.blob("parked-events", row["BodyBlob"]) == event[1]


async def test_a_replay_from_an_old_checkpoint_changes_nothing(desk, stream):
    """A partition is read again from its beginning: all duplicates, and the poison has still one row."""
    events = movements("S5", 20)
    events[7] = (events[7][0], b"broken")
    await stream.send("S5", events)
    await stream.until_read()
    before = await level(desk, "S5")
    again = await stream.delivered_again()
    await stream.replay()
    assert await stream.delivered_again() >= again + 20
    assert await level(desk, "S5") == before
    assert len(await stream.parked("S5")) == 1


async def kill_and_read_again(desk: Desk, stream: Stream) -> None:
    """The worker dies in the middle of a batch; the next one gets the batch again."""
    killed = await desk.kill_worker()
    assert killed.in_flight >= 1
    await desk.stack.cosmos.release()
    await desk.host.wait_running(after=killed)
    await stream.until_read()


async def test_killed_before_the_commit_of_a_batch(desk, stream):
    """Nothing was written; the batch is read again."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S6", when="before", hold=True, drop=True, times=1)
    await stream.send("S6", movements("S6", 10))
    await desk.until_held()
    assert await level(desk, "S6") == of(0)
    await kill_and_read_again(desk, stream)
    assert await level(desk, "S6") == of(10)


async def test_killed_after_one_of_two_commits_of_a_batch(desk, stream):
    """Half of a large batch is written: the second reading finds its markers and does the other half."""
    events = movements("S7", 60)  # more than one commit holds
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S7", when="after", hold=True, times=1)
    await stream.send("S7", events)
    await desk.until_held()
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S7", when="before", hold=True, drop=True, times=1)
    await desk.stack.cosmos.release()
    await desk.until_held()
    _, written, _ = await level(desk, "S7")
    assert 0 < written < 60
    await kill_and_read_again(desk, stream)
    assert await level(desk, "S7") == of(60)


async def test_killed_after_the_commit_before_the_checkpoint(desk, stream):
    """Everything is written and the checkpoint is not: the second reading changes nothing."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S8", when="after", hold=True, drop=True, times=1)
    await stream.send("S8", movements("S8", 10))
    await desk.until_held()
    assert await level(desk, "S8") == of(10)
    await kill_and_read_again(desk, stream)
    assert await level(desk, "S8") == of(10)


async def test_an_outage_of_the_database_pauses_the_partition_and_loses_nothing(desk, stream):
    """Unavailable a dozen times, then back: the same batch goes through, in order and once."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="S9", when="before", status=503, times=12)
    await stream.send("S9", movements("S9", 10))
    await stream.until_read()
    assert await level(desk, "S9") == of(10)
    assert await stream.parked("S9") == []


async def test_two_owners_of_a_partition_have_one_effect(desk, stream):
    """A second host takes partitions over and reads events that the first one is still working on."""
    skus = [f"T{n}" for n in range(8)]
    await desk.stack.cosmos.fault(operation="Batch", container="stock", when="before", hold=True, times=8)
    for sku in skus:
        await stream.send(sku, movements(sku, 5))
    await desk.until_held()
    async with FunctionsHost.running(ROOT, desk.stack.services.settings()):
        again = await stream.delivered_again()

        async def taken_over() -> bool:
            return await stream.delivered_again() > again

        await desk.until(taken_over)
        await desk.stack.cosmos.release()
        await stream.until_read()
    await stream.until_read()
    assert [await level(desk, sku) for sku in skus] == [of(5)] * len(skus)
