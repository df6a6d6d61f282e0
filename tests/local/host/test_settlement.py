"""Settling through the real worker, the real SDK and the broker stand-in: every kind, every refusal."""

import base64

import pytest

from .conftest import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_complete(stage: Stage) -> None:
    """A completed message is gone."""
    await stage.send("work", do="complete")
    await stage.counts("work", 1, "completed")
    assert [await stage.count("work", what) for what in ("active", "locked")] == [0, 0]


async def test_abandon(stage: Stage) -> None:
    """An abandoned message comes again at once, with its count gone up."""
    await stage.send("work", do="abandon-once")
    await stage.counts("work", 1, "completed")
    assert [each["delivery_count"] for each in stage.seen()] == [1, 2]
    assert await stage.count("work", "abandoned") == 1


async def test_dead_letter(stage: Stage) -> None:
    """Reason and description stand on the dead-lettered message."""
    await stage.send("work", do="dead-letter")
    await stage.counts("work", 1, "dead_lettered")
    (dead,) = await stage.dead_letters("work")
    assert (dead.dead_letter_reason, dead.dead_letter_error_description) == ("Malformed", "no order id")


async def test_defer(stage: Stage) -> None:
    """A deferred message stays until it is asked for by number."""
    await stage.send("work", do="defer")
    await stage.counts("work", 1, "deferred")
    assert len(stage.seen()) == 1


async def test_renew(stage: Stage) -> None:
    """A function can renew the lock itself, and complete afterwards."""
    await stage.send("work", do="renew")
    await stage.counts("work", 1, "completed")


async def test_a_settled_message_cannot_be_settled_again(stage: Stage) -> None:
    """The second complete is refused with Unknown, as the extension passes on any failure."""
    await stage.send("work", do="complete-twice")
    _, refusal = await stage.sees(2)
    assert (refusal["code"], "MessageAlreadySettled" in refusal["details"]) == ("UNKNOWN", True)


async def test_a_token_nobody_holds_is_refused(stage: Stage) -> None:
    """FAILED_PRECONDITION, in the extension's words."""
    await stage.send("work", do="complete-stranger", body="no-such-token")
    _, refusal = await stage.sees(2)
    assert refusal["code"] == "FAILED_PRECONDITION"
    assert refusal["details"] == "LockToken no-such-token not found."


async def test_a_token_lives_only_during_its_invocation(stage: Stage) -> None:
    """After its function has returned, a message that is still locked cannot be settled any more."""
    await stage.send("work", do="leave-locked")
    (first,) = await stage.sees(1)
    await stage.idle()
    await stage.send("work", do="complete-stranger", body=first["lock_token"])
    refusal = (await stage.sees(3))[-1]
    assert refusal["details"] == f"LockToken {first['lock_token']} not found."


async def test_modifying_properties_is_refused_rather_than_forgotten(stage: Stage) -> None:
    """The SDK cannot do it, so the host says so instead of dead-lettering without the properties."""
    await stage.send("work", do="dead-letter-modifying")
    _, refusal = await stage.sees(2)
    assert refusal["code"] == "UNIMPLEMENTED"
    assert await stage.count("work", "dead_lettered") == 0


async def test_without_auto_complete_an_unsettled_message_stays_locked(stage: Stage) -> None:
    """After a normal return that settled nothing, only the lock's end brings the message back."""
    await stage.send("work", do="leave-locked")
    await stage.sees(1)
    await stage.idle()
    assert [await stage.count("work", what) for what in ("locked", "completed", "abandoned")] == [1, 0, 0]


async def test_with_auto_complete_a_normal_return_completes(stage: Stage) -> None:
    """The host completes what the function left unsettled."""
    await stage.send("auto")
    await stage.counts("auto", 1, "completed")


@pytest.mark.parametrize("queue", ["work", "auto"])
async def test_an_exception_abandons_whatever_auto_complete_says(stage: Stage, queue: str) -> None:
    """The message comes again at once, as delivery 2."""
    await stage.send(queue, do="raise-once")
    await stage.counts(queue, 1, "completed")
    assert [each["delivery_count"] for each in stage.seen()] == [1, 2]
    assert await stage.count(queue, "abandoned") == 1


async def test_a_message_settled_before_the_exception_stays_settled(stage: Stage) -> None:
    """The host abandons only what is not settled."""
    await stage.send("work", do="complete-then-raise")
    await stage.counts("work", 1, "completed")
    await stage.idle()
    assert (len(stage.seen()), await stage.count("work", "abandoned")) == (1, 0)


async def test_a_binary_binding_keeps_the_body_byte_for_byte(stage: Stage) -> None:
    """Every byte value survives when the trigger says dataType binary."""
    body = bytes(range(256)) + b"\x1f\x8b\x08\x00"
    await stage.send("binary", body)
    (seen,) = await stage.sees(1)
    assert base64.b64decode(seen["body"]) == body


async def test_a_text_binding_mangles_what_is_not_text(stage: Stage) -> None:
    """Without dataType binary the real host decodes UTF-8 and replaces the rest: so does this one."""
    await stage.send("work", b"\x1f\x8bgzip", do="complete")
    (seen,) = await stage.sees(1)
    assert base64.b64decode(seen["body"]) == "\x1f\N{REPLACEMENT CHARACTER}gzip".encode()


async def test_a_text_binding_keeps_text_and_takes_off_its_mark(stage: Stage) -> None:
    """UTF-8 arrives as it was sent, without a byte order mark."""
    await stage.send("work", b"\xef\xbb\xbf" + "zwölf €".encode(), do="complete")
    (seen,) = await stage.sees(1)
    assert base64.b64decode(seen["body"]).decode() == "zwölf €"


async def test_the_function_sees_what_the_broker_says(stage: Stage) -> None:
    """Ids, properties, times and counts arrive under production's names and in its forms."""
    properties = {"tenant": "t1", "n": 3, "rate": 1.5, "flag": True}
    described = {"message_id": "1001/placed", "subject": "s", "content_type": "application/json"}
    await stage.send("work", do="complete", correlation_id="c-1", properties=properties, **described)
    (seen,) = await stage.sees(1)
    assert seen["properties"] == properties | {"do": "complete"}
    assert {name: seen[name] for name in described} == described
    assert (seen["correlation_id"], seen["delivery_count"]) == ("c-1", 1)
    assert seen["sequence_number"] > 0
    assert seen["enqueued"] < seen["expires"]
    assert "+" not in seen["enqueued"]
    assert set(seen["metadata"]) == {
        *("DeliveryCount", "LockToken", "ExpiresAtUtc", "ExpiresAt", "EnqueuedTimeUtc", "EnqueuedTime", "MessageId"),
        *("ContentType", "SequenceNumber", "Subject", "Label", "CorrelationId"),
        *("ApplicationProperties", "UserProperties"),
    }
