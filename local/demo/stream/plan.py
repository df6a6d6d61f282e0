"""Which events are sent, in which batches, and what has to become of each: decided from a seed before anything runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil
from random import Random

from ..crash import MOMENTS, Moment
from ..documents import Effect
from .events import MISFITS, Event, Fate, again, first, reused
from .movements import Level, draw_movement, levels_after, parked_effect

LARGEST_BATCH = 40
"""Events sent at once. The host hands over up to 100, so that an invocation often has several of these."""

FEW_REUSED_IDS = 4
"""Ids that come again with other content."""

EVENTS_PER_MISFIT = 20
"""At most one event in so many is a misfit, and one more reuses an id: a small run is about movements, too."""

MOST_KEPT = 0.5
"""At most this share of a partition lies before the old checkpoint, so that at least as much is read again."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one partition key, sent at once."""

    events: Sequence[Event]
    """In this order."""
    crash: Moment | None = None
    """The worker is killed before or after a commit that this batch, or one before it, causes."""

    @property
    def key(self) -> str | None:
        """The partition key of all its events."""
        return self.events[0].key


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be sent."""

    batches: Sequence[Batch]
    """One after the other."""
    kept: float
    """The share of a partition that lies before the old checkpoint which it is read again from, 0 to 1."""
    effects: Counter[Effect]
    """What has to be found afterwards, levels aside."""
    levels: Mapping[str, Level]
    """What there has to be of each article afterwards."""

    def events(self) -> Iterator[Event]:
        """All, in the order they are sent."""
        return chain.from_iterable(batch.events for batch in self.batches)

    def fates(self) -> Counter[Fate]:
        """How many events have to end in which way."""
        return Counter(event.fate for event in self.events())


def draw(*, events: int, duplicates: float, crashes: int, seed: int) -> Plan:
    """A plan for so many events in all, a share of movements told twice, and so many crashes, one in a batch at most.

    `events` and `crashes` are not negative, `duplicates` lies between 0 and 1. The same arguments give the same plan.
    """
    random = Random(seed)  # noqa: S311  (a seed shall repeat the run)
    misfit_count = min(len(MISFITS), events // EVENTS_PER_MISFIT)
    reused_count = min(FEW_REUSED_IDS, events // EVENTS_PER_MISFIT)
    told = events - misfit_count - reused_count
    movement_count = ceil(told / (1 + duplicates))
    drawn = [draw_movement(n, random) for n in range(1, movement_count + misfit_count + 1)]
    movements, spare = drawn[:movement_count], drawn[movement_count:]

    copies = [again(movement) for movement in random.sample(movements, told - movement_count)]
    followers = copies + [reused(movement) for movement in random.sample(movements, reused_count)]
    misfits = [make(one) for make, one in zip(random.sample(MISFITS, misfit_count), spare, strict=True)]
    batches = _batches(_streams([first(movement) for movement in movements], followers, misfits, random), random)
    return Plan(
        batches=_with_crashes(batches, crashes, random),
        kept=random.uniform(0, MOST_KEPT),
        effects=Counter(
            [effect for movement in movements for effect in movement.effects()]
            + [parked_effect(event.fate, event.body) for batch in batches for event in batch if event.fate.is_parked]
        ),
        levels=levels_after(movements),
    )


def outlook(plan: Plan) -> str:
    """What is going to happen, in a sentence."""
    fates = plan.fates()
    parked = sum(count for fate, count in fates.items() if fate.is_parked)
    crashes = sum(batch.crash is not None for batch in plan.batches)
    return (
        f"{fates[Fate.PROCESSED]} movements of {len(plan.levels)} articles; {fates[Fate.ABSORBED]} told again;"
        f" {parked} events that must be parked; {crashes} crashes; one partition read again from an old checkpoint."
    )


def _streams(
    originals: Iterable[Event], followers: Iterable[Event], misfits: Iterable[Event], random: Random
) -> list[list[Event]]:
    """What is sent under each key, in its order: a follower behind its original, at once or much later."""
    streams: dict[str | None, list[Event]] = {}
    for event in originals:
        streams.setdefault(event.key, []).append(event)
    for event in followers:
        stream = streams[event.key]
        behind = next(n for n, other in enumerate(stream, 1) if other.message_id == event.message_id)
        stream.insert(random.randint(behind, len(stream)), event)
    for event in misfits:
        stream = streams.setdefault(event.key, [])
        stream.insert(random.randint(0, len(stream)), event)
    return list(streams.values())


def _batches(streams: Iterable[Sequence[Event]], random: Random) -> list[Sequence[Event]]:
    """The streams cut into batches, which take turns by chance; each stream keeps its order."""
    cut = [list(_cut(stream, random)) for stream in streams]
    turns = [n for n, batches in enumerate(cut) for _ in batches]
    random.shuffle(turns)
    left = [iter(batches) for batches in cut]
    return [next(left[n]) for n in turns]


def _cut(stream: Sequence[Event], random: Random) -> Iterator[Sequence[Event]]:
    start = 0
    while start < len(stream):
        end = start + random.randint(1, LARGEST_BATCH)
        yield tuple(stream[start:end])
        start = end


def _with_crashes(batches: Sequence[Sequence[Event]], crashes: int, random: Random) -> list[Batch]:
    """The worker can only be killed at a commit, so at batches that surely lead to one."""
    committing = [n for n, events in enumerate(batches) if any(event.fate is Fate.PROCESSED for event in events)]
    traps = sorted(random.sample(committing, min(crashes, len(committing))))
    moments = {trap: MOMENTS[n % len(MOMENTS)] for n, trap in enumerate(traps)}
    return [Batch(events, moments.get(n)) for n, events in enumerate(batches)]
