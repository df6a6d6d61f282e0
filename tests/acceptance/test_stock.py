"""A stream of stock movements: every movement counts once, and what can never succeed is parked."""

from decimal import Decimal

import pytest

from .movements import level, movement, movements, of

pytestmark = pytest.mark.asyncio(loop_scope="session")


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
