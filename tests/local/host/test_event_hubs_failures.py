"""Failing functions, dying workers, restarts: what is lost, what is repeated, and where the checkpoint stands."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from .event_hubs_stage import EventStage, Hubs, event, staged_events
from .waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

# delay_interval of `stubborn`, and more than any pause of `limited`.
RETRY_PAUSE = timedelta(hours=1)


async def retries(stage: EventStage, function: str, attempt: int) -> list[dict[str, object]]:
    """Moves the clock until that attempt of a single event has begun; the host may still be on its way to wait."""

    async def begun() -> bool:
        if len(stage.seen(function)) < attempt:
            stage.host.advance_clock(RETRY_PAUSE)
        return len(stage.seen(function)) >= attempt

    await eventually(begun)
    return stage.seen(function)


async def test_without_a_policy_a_failed_batch_is_lost(events: EventStage) -> None:
    """The checkpoint advances although the function raised: the event never comes again, as in production."""
    await events.send("plain", event(b"poison", do="raise"))
    (lost,) = await events.sees("plain", 1)
    await events.checkpointed("plain", lost["numbers"][0])
    await events.send("plain", event(b"next"))
    await events.sees("plain", 2)
    assert events.bodies("plain") == [b"poison", b"next"]


async def test_a_policy_without_end_keeps_a_batch_until_it_succeeds(events: EventStage) -> None:
    """The same events again and again, the partition waits, and only success moves the checkpoint."""
    await events.send("stubborn", event(b"1", do="raise", until=3))
    await events.sees("stubborn", 1)
    await events.send("stubborn", event(b"2"))
    before = await events.checkpoint("stubborn")
    attempts = await retries(events, "stubborn", 3)
    assert await events.checkpoint("stubborn") == before
    attempts = await retries(events, "stubborn", 4)
    assert [each["numbers"] for each in attempts[:4]] == [attempts[0]["numbers"]] * 4
    assert [each["retry"][:2] for each in attempts[:4]] == [[0, -1], [1, -1], [2, -1], [3, -1]]
    assert attempts[0]["retry"][2] == ""
    assert all("no such sku" in each["retry"][2] for each in attempts[1:4])
    await events.sees("stubborn", 4 + 1)
    assert events.bodies("stubborn") == [b"1"] * 4 + [b"2"]
    await events.checkpointed("stubborn", events.numbers("stubborn")[-1])


async def test_a_policy_with_an_end_gives_the_batch_up_after_its_last_retry(events: EventStage) -> None:
    """Three attempts, then the checkpoint moves past the batch and the partition goes on."""
    await events.send("limited", event(b"poison", do="raise"))
    await events.sees("limited", 1)
    await events.send("limited", event(b"next"))
    attempts = await retries(events, "limited", 3)
    await events.sees("limited", 4)
    assert [each["retry"][:2] for each in attempts[:3]] == [[0, 2], [1, 2], [2, 2]]
    assert events.bodies("limited") == [b"poison"] * 3 + [b"next"]
    await events.checkpointed("limited", events.numbers("limited")[-1])


async def test_a_killed_workers_batch_comes_again(events: EventStage) -> None:
    """SIGKILL in the middle of a batch: no checkpoint, and the next worker gets the same events, as a first attempt."""
    await events.send("plain", event(do="hold-once", name="killed"))
    (first,) = await events.sees("plain", 1)
    before = await events.checkpoint("plain")
    events.host.kill_worker()
    _, second = await events.sees("plain", 2)
    assert first["numbers"] == second["numbers"]
    assert first["pid"] != second["pid"]
    assert second["retry"] == [0, 0, ""]
    assert before is not None
    assert before < first["numbers"][0]
    await events.checkpointed("plain", first["numbers"][0])


async def test_a_rewound_partition_is_read_again_and_no_other(events: EventStage) -> None:
    """Everything after the given sequence number comes again, in order, once."""
    await events.send("plain", *(event() for _ in range(4)))
    await events.send("plain", event(), partition="1")
    await events.sees("plain", 4)
    numbers = events.numbers("plain")
    await events.sees("plain", 1, partition="1")
    await events.checkpointed("plain", events.numbers("plain", "1")[-1], partition="1")
    await events.checkpointed("plain", numbers[-1])
    status, answer = await events.rewind("plain", "0", numbers[0])
    assert (status, answer) == (200, {"function": "plain", "partition": "0", "sequence_number": numbers[0]})
    await events.sees("plain", 4 + 3)
    await events.checkpointed("plain", numbers[-1])
    assert events.numbers("plain") == numbers + numbers[1:]
    assert len(events.seen("plain", partition="1")) == 1


async def test_what_cannot_be_rewound_is_refused(events: EventStage) -> None:
    """The answer says what is wrong and what to post."""
    for function, partition, number, words in (
        ("nobody", "0", -1, "no function nobody"),
        ("plain", "7", -1, "does not read partition 7 now (it reads: 0, 1)"),
        ("plain", "0", -2, "begin at 0"),
    ):
        status, answer = await events.rewind(function, partition, number)
        assert status == 400
        assert words in answer["error"]
        assert "sequence_number" in answer["error"]


async def test_another_host_goes_on_at_the_checkpoint(hubs: Hubs, tmp_path: Path) -> None:
    """What was checkpointed does not come again; a batch still being worked on when the host stopped does."""
    async with staged_events(hubs, tmp_path / "first") as first:
        await first.send("plain", event())
        await first.checkpointed("plain", 0)
        await first.send("plain", event(do="hold"))
        await first.sees("plain", 2)
        stopping = asyncio.create_task(first.host.stop())
        await eventually(lambda: first.host.status().state == "Starting")
        await first.release()
        await stopping
        assert first.seen("plain")[-1]["released"]
    async with staged_events(hubs, tmp_path / "second", first.names) as second:
        await second.sees("plain", 1)
        assert second.numbers("plain") == [1]
        await second.release_all()
