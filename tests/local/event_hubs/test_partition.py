"""The log of a partition: places, beginnings, retention."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.amqp import Message
from local.broker import Clock
from local.event_hubs.faults import PositionInvalid
from local.event_hubs.partition import Event, Partition
from local.event_hubs.selector import BEGINNING, From, Latest, Mark

from .builders import NOON_MS, RETENTION, SIZE, a_partition, numbers, read_all, still_clock

STEP = 10  # seconds between two events, where time matters


def filled(count: int, clock: Clock | None = None) -> tuple[Partition, list[Event]]:
    clock = clock or still_clock()
    partition = a_partition(clock)
    events = []
    for _ in range(count):
        events.append(partition.append(Message(), SIZE, None))
        clock.advance(STEP)
    return partition, events


def mark_of(event: Event, mark: Mark) -> int:
    return {
        Mark.OFFSET: event.offset,
        Mark.SEQUENCE_NUMBER: event.sequence_number,
        Mark.ENQUEUED_TIME: event.enqueued_at_ms,
    }[mark]


def test_places() -> None:
    """Sequence numbers count events from 0; offsets count bytes and are no sequence numbers."""
    partition = a_partition()
    events = [partition.append(Message(), size, "key") for size in (1, 200, 30)]
    assert numbers(events) == [0, 1, 2]
    assert [later.offset - earlier.offset for earlier, later in itertools.pairwise(events)] == [1, 200]
    assert not {event.offset for event in events} & set(range(1000))
    assert events[0].enqueued_at_ms == NOON_MS
    assert events[0].partition_key == "key"


def test_time_never_runs_backwards() -> None:
    """A machine's clock that is set back leaves the order of enqueued times alone."""
    instants = iter([100.0, 200.0, 150.0, 160.0, 300.0])
    instant = next(instants)
    partition = a_partition(Clock(lambda: instant))
    times = [partition.append(Message(), SIZE, None).enqueued_at_ms]
    for instant in instants:  # noqa: B007 - the clock reads it
        times.append(partition.append(Message(), SIZE, None).enqueued_at_ms)
    assert times == [100_000, 200_000, 200_000, 200_000, 300_000]


@pytest.mark.parametrize("mark", Mark)
def test_start_at_an_event(mark: Mark) -> None:
    """`>` starts after the event named, `>=` with it."""
    partition, events = filled(3)
    value = mark_of(events[1], mark)
    assert partition.start(From(mark, value, inclusive=False)) == 2
    assert partition.start(From(mark, value, inclusive=True)) == 1


def test_start_at_the_ends() -> None:
    """-1 is before everything, @latest behind everything, and the last event is a checkpoint like any other."""
    partition, events = filled(3)
    assert partition.start(BEGINNING) == 0
    assert partition.start(From(Mark.SEQUENCE_NUMBER, -1, inclusive=False)) == 0
    assert partition.start(Latest()) == 3
    assert partition.start(From(Mark.OFFSET, events[-1].offset, inclusive=False)) == 3
    assert partition.start(From(Mark.ENQUEUED_TIME, NOON_MS + 10**9, inclusive=True)) == 3


def test_start_in_an_empty_partition() -> None:
    """Both ends of an empty partition are the event to come."""
    assert a_partition().start(BEGINNING) == 0
    assert a_partition().start(Latest()) == 0


@pytest.mark.parametrize("inclusive", [True, False])
def test_start_behind_the_end(inclusive: bool) -> None:
    """A checkpoint that the partition never reached is of another partition's life: it is refused, not waited for."""
    partition, events = filled(2)
    for start in (From(Mark.SEQUENCE_NUMBER, 2, inclusive), From(Mark.OFFSET, events[-1].offset + 1, inclusive)):
        with pytest.raises(PositionInvalid) as raised:
            partition.start(start)
        assert raised.value.condition == "com.microsoft:argument-error"
    with pytest.raises(PositionInvalid, match=r"'0' is invalid\. The last sequence number in the system is '-1'"):
        a_partition().start(From(Mark.SEQUENCE_NUMBER, 0, inclusive))


@given(
    sizes=st.lists(st.integers(1, 50), max_size=20),
    pauses=st.lists(st.integers(0, 3), min_size=20, max_size=20),
    mark=st.sampled_from(Mark),
    distance=st.integers(-5, 60),
    inclusive=st.booleans(),
)
def test_start_selects(sizes: list[int], pauses: list[int], mark: Mark, distance: int, inclusive: bool) -> None:
    """Whatever the events and the value, a receiver gets exactly the events that the selector selects."""
    clock = still_clock()
    partition = a_partition(clock)
    events = []
    for size, pause in zip(sizes, pauses, strict=False):
        events.append(partition.append(Message(), size, None))
        clock.advance(pause / 1000)
    value = (mark_of(events[0], mark) if events else 0) + distance
    wanted = [each for each in events if mark_of(each, mark) > value or (inclusive and mark_of(each, mark) == value)]
    last = mark_of(events[-1], mark) if events else -1
    start = From(mark, value, inclusive)
    if mark is not Mark.ENQUEUED_TIME and value > last:
        with pytest.raises(PositionInvalid):
            partition.start(start)
    else:
        assert read_all(partition, partition.start(start)) == wanted


def test_retention() -> None:
    """An event can be read until its retention ends, to the millisecond, and its number is not used again."""
    clock = still_clock()
    partition, events = filled(3, clock)
    clock.advance(RETENTION - 3 * STEP - 0.001)
    assert read_all(partition) == events
    clock.advance(0.001)
    assert read_all(partition) == events[1:]
    assert partition.start(BEGINNING) == 1
    clock.advance(RETENTION)
    assert read_all(partition) == []
    assert partition.append(Message(), SIZE, None).sequence_number == 3
    assert numbers(read_all(partition)) == [3]


def test_a_checkpoint_older_than_retention() -> None:
    """A receiver whose place has expired goes on with the oldest event there is."""
    clock = still_clock()
    partition, events = filled(3, clock)
    clock.advance(RETENTION - 3 * STEP)  # the first event is as old as that now
    assert partition.start(From(Mark.SEQUENCE_NUMBER, 0, inclusive=True)) == 1
    assert partition.start(From(Mark.OFFSET, events[0].offset, inclusive=False)) == 1
    assert numbers(read_all(partition, 0)) == [1, 2]


def test_state() -> None:
    """What can be told of a partition: never used, in use, and with everything expired."""
    clock = still_clock()
    partition = a_partition(clock)
    state = partition.state()
    assert (state.first_sequence_number, state.last_sequence_number, state.last_offset) == (0, -1, -1)
    assert state.is_empty
    partition.append(Message(), SIZE, None)
    last = partition.append(Message(), SIZE, None)
    state = partition.state()
    assert (state.first_sequence_number, state.last_sequence_number, state.last_offset) == (0, 1, last.offset)
    assert state.last_enqueued_at_ms == NOON_MS
    assert not state.is_empty
    clock.advance(RETENTION)
    state = partition.state()
    assert (state.first_sequence_number, state.last_sequence_number, state.last_offset) == (2, 1, last.offset)
    assert state.is_empty


def test_statistics() -> None:
    """Every delivery counts; the first ones count once in a consumer group."""
    partition, _ = filled(3)
    read_all(partition)
    read_all(partition, 2)
    read_all(partition, 1, group="audit")
    assert partition.statistics() == {"events": 3, "last_sequence_number": 2, "delivered": 6, "first_delivered": 5}
