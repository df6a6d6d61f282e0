"""Trying until it is decided: what a failed try tells the next one, how long to wait for it, and when to stop."""

from collections.abc import Callable

from .clock import Clock
from .errors import AlreadyExists, CommitConflict, Conflict, Doubtful, TransientFailure
from .marker import Told
from .patience import Patience

_LOST_RACES = 5
"""How often a handler runs again at once after losing a document; then it is contention, and waits like an outage."""
_FIRST_RACE_DELAY = 0.02
"""Seconds before a handler runs again, at most: a commit takes about 10 ms; doubles with every lost race."""


class MarkerConflict(Exception):
    """The commit met a marker: somebody, perhaps we, has done the message."""

    def __init__(self, bookmark: str | None) -> None:
        super().__init__(bookmark)
        self.bookmark = bookmark


class LostRace(Exception):
    """The markers were accepted and a business document was not: somebody else wrote it meanwhile."""

    def __init__(self, conflict: CommitConflict, document: str) -> None:
        super().__init__(str(conflict))
        self.document = document
        self.create = isinstance(conflict, Conflict)
        self.bookmark = conflict.bookmark


class Attempts:
    """The tries to get one commit decided."""

    def __init__(
        self,
        told: Told | None,
        patience: Patience,
        clock: Clock,
        random: Callable[[], float],
        on_wait: Callable[[TransientFailure, float], None],
    ) -> None:
        """`told`: why to look for markers before the first try; None not to. `on_wait`: told of every longer wait."""
        self.told = told
        """Why to look for markers before the next try; None to run without looking."""
        self.bookmark: str | None = None
        """For every read of the next try: what the last commit met."""
        self._patience = patience
        self._clock = clock
        self._random = random
        self._on_wait = on_wait
        self._races: list[LostRace] = []

    async def failed(self, failure: MarkerConflict | LostRace | TransientFailure) -> None:
        """Learn from a failed try and wait until the next one.

        Raises the failure when patience has run out, and `AlreadyExists` when trying again would not end it.
        """
        match failure:
            case MarkerConflict(bookmark=bookmark):
                self.told, self.bookmark = Told.CONFLICT, bookmark
            case LostRace(bookmark=bookmark):
                self.bookmark = bookmark
                self._races.append(failure)
                if len(self._races) <= _LOST_RACES:
                    ceiling = _FIRST_RACE_DELAY * 2.0 ** (len(self._races) - 1)
                    await self._clock.sleep(ceiling * self._random())
                else:
                    await self._wait_out(_contention(self._races))
            case Doubtful():
                self.told, self.bookmark = Told.DOUBT, None
                await self._wait_out(failure)
            case TransientFailure():
                await self._wait_out(failure)

    async def _wait_out(self, failure: TransientFailure) -> None:
        delay = self._patience.delay_after(failure)
        self._on_wait(failure, delay)
        await self._clock.sleep(delay)


def _contention(races: list[LostRace]) -> TransientFailure:
    """What it means to lose so many. Raises `AlreadyExists` for a handler that creates the same document every time,
    although it could see that it is there."""
    last = races[-1]
    if all(race.create and race.document == last.document for race in races):
        raise AlreadyExists(f"Document {last.document} is there already, and another message wrote it.") from last
    failure = TransientFailure(f"Lost {len(races)} races, the last for document {last.document}.")
    failure.__cause__ = last.__cause__
    return failure
