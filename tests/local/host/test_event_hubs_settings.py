"""host.json's extensions.eventHubs, in the form of numbers and in what happens; two hosts on one hub."""

import json
import logging
import shutil
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from azure.eventhub.aio import EventHubProducerClient

from local.host.errors import HostError
from local.host.event_hubs_options import EventHubsOptions
from local.host.listeners.event_hubs_retries import SPREAD, pauses
from local.host.wire import RetryPolicy

from .event_hubs_stage import EVENTS_APP, Hubs, event, staged_events
from .waiting import eventually


def app_with(folder: Path, **settings: Any) -> Path:
    """The sample app with another section extensions.eventHubs."""
    shutil.copytree(EVENTS_APP, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "host.json").write_text(json.dumps({"version": "2.0", "extensions": {"eventHubs": settings}}))
    return folder


def test_an_empty_section_means_productions_defaults() -> None:
    """What host.json does not say is what the extension does."""
    assert EventHubsOptions.read({}) == EventHubsOptions(
        max_event_batch_size=100,
        min_event_batch_size=1,
        max_wait=timedelta(minutes=1),
        batch_checkpoint_frequency=1,
        prefetch_count=300,
        initial_position="-1",
        load_balancing_interval=timedelta(seconds=30),
        ownership_expiration=timedelta(minutes=2),
    )


def test_the_section_is_read() -> None:
    """Every value that this host knows is honoured."""
    section = {
        "maxEventBatchSize": 7,
        "minEventBatchSize": 3,
        "maxWaitTime": "00:00:05",
        "batchCheckpointFrequency": 2,
        "prefetchCount": 9,
        "initialOffsetOptions": {"type": "fromEnqueuedTime", "enqueuedTimeUtc": "2026-01-31T12:00:00Z"},
        "loadBalancingUpdateInterval": "00:00:01",
        "partitionOwnershipExpirationInterval": "00:00:10",
    }
    seconds = timedelta(seconds=1)
    assert EventHubsOptions.read(section) == EventHubsOptions(
        7, 3, 5 * seconds, 2, 9, datetime(2026, 1, 31, 12, tzinfo=UTC), seconds, 10 * seconds
    )
    assert EventHubsOptions.read({"initialOffsetOptions": {"type": "FromEnd"}}).initial_position == "@latest"


@pytest.mark.parametrize(
    "section",
    [
        {"maxEventBatchSize": 0},
        {"minEventBatchSize": 5, "maxEventBatchSize": 4},
        {"batchCheckpointFrequency": 0},
        {"prefetchCount": 0},
        {"maxWaitTime": "00:10:01"},
        {"initialOffsetOptions": {"type": "fromMiddle"}},
        {"initialOffsetOptions": {"type": "fromEnqueuedTime", "enqueuedTimeUtc": "yesterday"}},
        {"enableCheckpointing": False},
    ],
)
def test_a_section_that_makes_no_sense_is_refused(section: dict[str, Any]) -> None:
    """A value that cannot be meant, or would be ignored, stops the host."""
    with pytest.raises(HostError):
        EventHubsOptions.read(section)


def test_fixed_pauses_stay_the_same() -> None:
    """The pause before each retry is the policy's."""
    policy = RetryPolicy("fixed_delay", -1, delay=2.0)
    assert list(islice(pauses(policy), 3)) == [timedelta(seconds=2)] * 3


def test_exponential_pauses_double_until_the_maximum() -> None:
    """First the minimum; then it plus about once, twice, four times itself; at last always the maximum."""
    found = [pause.total_seconds() for pause in islice(pauses(RetryPolicy("exponential_backoff", -1, 0, 1.0, 9.0)), 9)]
    assert found[0] == 1
    for pause, middle in zip(found[1:4], (1, 2, 4), strict=True):
        assert 1 + middle * (1 - SPREAD) <= pause <= 1 + middle * (1 + SPREAD)
    assert found[-3:] == [9, 9, 9]


async def test_positions_company_and_checkpoints_follow_host_json(hubs: Hubs, tmp_path: Path) -> None:
    """initialOffsetOptions, minEventBatchSize, maxWaitTime and batchCheckpointFrequency do what they do in Azure."""
    names = hubs.fresh()
    await send_without_host(hubs, names["plain"], b"before the app's time")
    start = {"type": "fromEnqueuedTime", "enqueuedTimeUtc": datetime.now(UTC).isoformat()}
    company = {"minEventBatchSize": 3, "maxWaitTime": "00:05:00"}
    app = app_with(tmp_path / "app", initialOffsetOptions=start, batchCheckpointFrequency=2, **company)
    async with staged_events(hubs, tmp_path / "stage", names, app) as stage:
        await stage.send("plain", event())
        await stage.sees("plain", 1)  # an instance's first events go at once, however few
        assert not stage.seen("plain")[0]["metadata"]["PartitionContext"]["IsCheckpointingAfterInvocation"]
        await stage.send("plain", event(), event())
        await stage.delivered("plain", more=-1)  # the first was passed over
        assert (len(stage.seen("plain")), await stage.checkpoint("plain")) == (1, None)
        await stage.send("plain", event())
        await stage.sees("plain", 4)
        assert [each["numbers"] for each in stage.seen("plain")] == [[1], [2, 3, 4]]
        await stage.checkpointed("plain", 4)
        await stage.send("plain", event())

        async def waited_long_enough() -> bool:
            stage.host.advance_clock(timedelta(minutes=5))
            return len(stage.numbers("plain")) == 5

        await eventually(waited_long_enough)
        assert await stage.checkpoint("plain") == 4
        await stage.host.stop()
        assert await stage.checkpoint("plain") == 5  # put off until then, and made up for by the clean stop


async def test_two_hosts_share_partitions_and_a_late_owner_moves_no_checkpoint(
    hubs: Hubs, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The second host takes one of two busy partitions: both work on the same event, only the owner checkpoints."""
    caplog.set_level(logging.INFO, "local.host")
    app = app_with(tmp_path / "app", loadBalancingUpdateInterval="00:00:01")
    async with staged_events(hubs, tmp_path / "old", app=app) as old:
        for partition in ("0", "1"):
            await old.send("plain", event(do="hold"), partition=partition)
            await old.sees("plain", 1, partition)
        async with staged_events(hubs, tmp_path / "new", old.names, app) as new:
            await eventually(lambda: new.seen("plain", "0") or new.seen("plain", "1"))
            stolen, kept = ("0", "1") if new.seen("plain", "0") else ("1", "0")
            assert new.numbers("plain", stolen) == old.numbers("plain", stolen) == [0]
            await eventually(lambda: f"plain reads partition {stolen} no more" in caplog.text)
            await old.release_all()
            await old.checkpointed("plain", 0, kept)
            assert await old.checkpoint("plain", stolen) is None
            await new.release_all()
            await new.checkpointed("plain", 0, stolen)
            assert new.numbers("plain", kept) == []


async def send_without_host(hubs: Hubs, hub: str, body: bytes) -> None:
    async with EventHubProducerClient.from_connection_string(hubs.connection, eventhub_name=hub) as producer:
        await producer.send_event(event(body), partition_id="0")
