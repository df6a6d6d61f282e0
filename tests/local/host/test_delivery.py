"""Crashes, locks, concurrency and shutdown, with time moved instead of waited for."""

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from .conftest import LOCK, Broker, Stage, staged
from .waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Calls that host.json of the sample app allows at a time.
MOST_CALLS = 4
# Past the moment of renewal (10 seconds before the end), short of the end.
MOST_OF_A_LOCK = LOCK * 0.9
# Five minutes in steps of 54 seconds; the last renewal falls due just before they are over.
RENEWALS_IN_LONGEST_DURATION = 6


async def test_a_killed_workers_message_comes_again_when_its_lock_ends(stage: Stage) -> None:
    """SIGKILL settles nothing: the worker is replaced at once, the message waits for its lock to expire."""
    await stage.send("work", do="hold-once")
    await stage.sees(1)
    killed = stage.host.kill_worker()
    await eventually(lambda: stage.host.worker_pid() not in (None, killed))
    await stage.idle()
    assert [await stage.count("work", what) for what in ("locked", "abandoned")] == [1, 0]
    await stage.broker.advance(LOCK)
    await stage.counts("work", 1, "completed")
    first, second = stage.seen()
    assert (first["delivery_count"], second["delivery_count"]) == (1, 2)
    assert first["pid"] != second["pid"]


async def test_a_function_that_exits_takes_its_worker_along(stage: Stage) -> None:
    """sys.exit() in a function ends the worker as in production; the message comes again after its lock."""
    starts = stage.host.status().worker.starts
    await stage.send("work", do="exit-once")
    await stage.sees(1)
    await eventually(lambda: stage.host.status().worker.starts == starts + 1)
    await stage.broker.advance(LOCK)
    await stage.counts("work", 1, "completed")


async def test_no_more_than_the_allowed_calls_run_at_a_time(stage: Stage) -> None:
    """maxConcurrentCalls bounds a function's running invocations, and the broker keeps the rest."""
    for _ in range(MOST_CALLS + 3):
        await stage.send("work", do="hold")
    await stage.sees(MOST_CALLS)
    assert await stage.count("work", "locked") == MOST_CALLS
    assert (len(stage.seen()), stage.host.in_flight) == (MOST_CALLS, MOST_CALLS)
    await stage.release_all()
    await stage.counts("work", MOST_CALLS + 3, "completed")
    assert len(stage.seen()) == MOST_CALLS + 3


async def pass_time(stage: Stage, steps: int, log: pytest.LogCaptureFixture) -> None:
    """Moves host and broker on by most of a lock at a time; the broker waits until the host has renewed."""
    for step in range(1, steps + 1):
        stage.host.advance_clock(MOST_OF_A_LOCK)
        await eventually(lambda step=step: len(renewals(log)) == step)
        await stage.broker.advance(MOST_OF_A_LOCK)


def renewals(log: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in log.records if "was renewed" in record.getMessage()]


async def test_renewal_keeps_a_long_invocation_alive(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """An invocation of several lock durations keeps its message: nobody else gets it."""
    caplog.set_level(logging.DEBUG, "local.host")
    await stage.align_clocks()
    await stage.send("work", do="hold")
    await stage.sees(1)
    await pass_time(stage, 4, caplog)
    await stage.release()
    await stage.counts("work", 1, "completed")
    assert (await stage.count("work", "lock_expired"), len(stage.seen())) == (0, 1)


async def test_renewal_ends_with_its_longest_duration(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """After maxAutoLockRenewalDuration the lock runs out and another delivery of the message begins."""
    caplog.set_level(logging.DEBUG, "local.host")
    await stage.align_clocks()
    await stage.send("work", do="hold")
    await stage.sees(1)
    await pass_time(stage, RENEWALS_IN_LONGEST_DURATION, caplog)
    stage.host.advance_clock(MOST_OF_A_LOCK)
    await stage.broker.advance(MOST_OF_A_LOCK)
    await stage.counts("work", 1, "lock_expired")
    assert [each["delivery_count"] for each in await stage.sees(2)] == [1, 2]
    assert len(renewals(caplog)) == RENEWALS_IN_LONGEST_DURATION


async def test_a_cut_connection_costs_nothing_but_time(stage: Stage) -> None:
    """After every AMQP connection was cut, the next message is received and settled."""
    await stage.send("work", do="complete")
    await stage.counts("work", 1, "completed")
    await stage.broker.drop_connections()
    await stage.send("work", do="complete")
    await stage.counts("work", 2, "completed")


async def test_stopping_lets_running_invocations_finish(broker: Broker, tmp_path: Path) -> None:
    """What can finish within the grace is settled by its function."""
    async with staged(broker, tmp_path) as stage:
        await stage.send("work", do="hold")
        await stage.sees(1)
        stopping = asyncio.create_task(stage.host.stop())
        await stage.release()
        await stopping
        assert await stage.count("work", "completed") == 1


async def test_stopping_gives_back_what_takes_too_long(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the grace the message is abandoned, so that another host gets it at once."""
    monkeypatch.setattr("local.host.host.STOP_GRACE", timedelta(seconds=0.1))
    async with staged(broker, tmp_path) as stage:
        await stage.send("work", do="hold")
        await stage.sees(1)
        await stage.host.stop()
        assert [await stage.count("work", what) for what in ("abandoned", "active", "locked")] == [1, 1, 0]


async def test_a_failed_invocation_is_one_line_with_the_workers_words(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """Function, invocation, exception and traceback stand on one line."""
    caplog.set_level(logging.INFO, "local.host")
    await stage.send("work", do="raise-once")
    await stage.counts("work", 1, "completed")
    (line,) = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert line.startswith("work ")
    assert "failed: ValueError: no such customer\\nsecond line" in line
    assert "\n" not in line
