"""When the stream is at its end, and what counts as getting there."""

from dataclasses import replace

from local.demo.stream.story import Situation
from local.stack import HubStatistics, PartitionStatistics

HUB = HubStatistics(
    sent=14,
    partitions=(
        PartitionStatistics("0", events=10, last_sequence_number=9, delivered=10, first_delivered=10),
        PartitionStatistics("1", events=4, last_sequence_number=3, delivered=4, first_delivered=4),
        PartitionStatistics("2", events=0, last_sequence_number=-1, delivered=0, first_delivered=0),
    ),
)
DONE = Situation(HUB, {"0": 9, "1": 3}, in_flight=0)


def test_it_is_over_when_every_partition_is_checkpointed_at_its_end() -> None:
    """A partition that never had an event has no checkpoint; one that is being worked on is not done."""
    assert DONE.is_idle
    assert not replace(DONE, in_flight=1).is_idle
    assert not replace(DONE, checkpoints={"0": 9}).is_idle


def test_without_a_checkpoint_everything_is_still_to_do() -> None:
    """And with one what came after it; a checkpoint may be ahead of what the broker said before."""
    assert replace(DONE, checkpoints={}).behind == 14
    assert replace(DONE, checkpoints={"0": 6, "1": 5}).behind == 3


def test_being_busy_is_no_progress() -> None:
    """A batch that is tried again and again is delivered again and again, and nothing comes of it."""
    busy = replace(HUB, partitions=tuple(replace(each, delivered=99) for each in HUB.partitions))
    assert replace(DONE, hub=busy, in_flight=2) == DONE
    assert replace(DONE, checkpoints={"0": 8, "1": 3}) != DONE
