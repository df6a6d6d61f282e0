"""READ THIS FIRST: the flow that makes a second delivery harmless.

A delivery has a key. Its first delivery is processed without looking: the handler stages its writes, and they are
committed together with a marker in one atomic step. A marker that is there already makes that commit fail as a whole;
only then, or when the broker says that it delivered before, is the marker read and compared.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import uuid4

from .cache import CompletedMarkers
from .clock import Clock, SystemClock
from .delivery import Delivery
from .errors import (
    AlreadyExists,
    CommitConflict,
    Conflict,
    Doubtful,
    FingerprintMismatch,
    IdentityMismatch,
    Rejection,
    Superseded,
    TooLarge,
    TransientFailure,
)
from .fingerprint import Fingerprint
from .hooks import DeliveryEnded, Hook, Retrying, silent
from .keys import DeduplicationKey
from .marker import TRANSITIONS, Marker, Told, Verdict, standing
from .outcome import Duplicate, Json, Outcome, Processed, Rejected, Stale
from .patience import Patience
from .placement import Placement, marker_in
from .unit_of_work import Store, UnitOfWork

type Handler[M] = Callable[[M, UnitOfWork], Awaitable[Json]]
"""Business only: reads and stages through the unit of work, returns what duplicates get back. May run several times."""

_MAX_BODY_BYTES = 256 * 1024
"""The largest message of Service Bus Standard (Microsoft Learn, "Service Bus quotas")."""
_LOST_RACES = 5
"""How often a handler runs again at once after losing an etag; then it is contention, and waits like an outage."""


def message_id(delivery: Delivery) -> object:
    """The default identity: the producer's message id."""
    return delivery.message_id


@dataclass(frozen=True, slots=True)
class _Intake:
    """A delivery with everything decided about it before any store is asked."""

    delivery: Delivery
    key: DeduplicationKey
    fingerprint: Fingerprint
    partition: str
    marker_id: str
    attempt_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentConsumer[M]:
    """One consumer: what it reads, where its documents live, what it does, and how its markers are kept."""

    name: str
    """Part of every key: renaming a consumer makes it process everything anew."""
    parse: Callable[[Delivery], M]
    """Turns a delivery into the handler's message. Raises a `Rejection` for what it cannot read."""
    partition: Callable[[Delivery], str]
    """The partition, from what identifies the message, so that every copy meets its marker. May raise a `Rejection`."""
    handler: Handler[M]
    """The business."""
    store: Store
    """Where documents and markers are committed together."""
    placement: Placement
    """Where the marker lives: `InboxMarker` or `EntityAsMarker`."""
    identity: Callable[[Delivery], object] = message_id
    """What the producer repeats on every copy: one part or a tuple of them. Any part missing is no key."""
    max_body_bytes: int = _MAX_BODY_BYTES
    """Larger bodies are rejected unread."""
    cache: CompletedMarkers | None = None
    """Completed markers kept in the process, or None."""
    clock: Clock = field(default_factory=SystemClock)
    """Time and waiting."""
    hook: Hook = silent
    """Told what happens."""
    random: Callable[[], float] = random.random
    """Uniform in [0, 1): jitter."""
    new_attempt_id: Callable[[], str] = lambda: uuid4().hex
    """Unique for every call of `consume`."""

    async def consume(self, delivery: Delivery, *, patience: float = 0.0) -> Outcome:
        """Process a delivery with an effectively-once result.

        `patience`: seconds for which a transient failure may be waited out inside this call; the caller keeps the
        message locked that long. Raises `TransientFailure` when that was not enough, and whatever programming error the
        handler raised: both mean "deliver again". Every other end is an `Outcome`.
        """
        started = self.clock.monotonic()
        key: DeduplicationKey | None = None
        outcome: Outcome | None = None
        error: BaseException | None = None
        try:
            key = DeduplicationKey.of(self.name, delivery.source, self.identity(delivery))
            intake = self._take_in(delivery, key)
            outcome = await self._settle(intake, Patience(patience, self.clock, self.random))
        except Rejection as rejection:
            outcome = Rejected(rejection.reason, rejection.description)
        except Superseded as superseded:
            outcome = Stale(str(superseded))
        except BaseException as raised:
            error = raised
            raise
        finally:
            seconds = self.clock.monotonic() - started
            digest = key.digest if key else None
            self.hook(
                DeliveryEnded(
                    consumer=self.name, delivery=delivery, key=digest, outcome=outcome, error=error, seconds=seconds
                )
            )
        return outcome

    def _take_in(self, delivery: Delivery, key: DeduplicationKey) -> _Intake:
        if len(delivery.body) > self.max_body_bytes:
            raise TooLarge(f"The body has {len(delivery.body)} bytes; {self.name} reads at most {self.max_body_bytes}.")
        return _Intake(
            delivery=delivery,
            key=key,
            fingerprint=Fingerprint.of(delivery.body),
            partition=self.partition(delivery),
            marker_id=self.placement.marker_id(delivery, key),
            attempt_id=self.new_attempt_id(),
        )

    async def _settle(self, intake: _Intake, patience: Patience) -> Outcome:
        """Look where a duplicate is likely, run where it is not, and let conflicts decide which it was."""
        known = self._recall(intake)
        if known and (outcome := self._judge(intake, Told.REDELIVERED, known)):
            return outcome
        told: Told | None = Told.REDELIVERED if intake.delivery.attempt > 1 else None
        bookmark: str | None = None
        races: list[_LostRace] = []
        while True:
            try:
                if told and (outcome := await self._look(intake, told, bookmark)):
                    return outcome
                told = None
                return await self._run(intake, bookmark)
            except _MarkerConflict as conflict:
                told, bookmark = Told.CONFLICT, conflict.bookmark
                continue
            except _LostRace as race:
                races.append(race)
                bookmark = race.bookmark
                if len(races) <= _LOST_RACES:
                    await self.clock.sleep(_race_delay(len(races), self.random()))
                    continue
                failure = _verdict_on(races)
            except Doubtful as doubt:
                told, bookmark, failure = Told.DOUBT, None, doubt
            except TransientFailure as transient:
                failure = transient
            await self._hold(intake, patience, failure)

    async def _look(self, intake: _Intake, told: Told, bookmark: str | None) -> Outcome | None:
        """Read the marker and say what it means; None means run."""
        document = await self.store.read(intake.partition, intake.marker_id, bookmark=bookmark)
        return self._judge(intake, told, marker_in(document))

    async def _confirm(self, intake: _Intake, refusal: Rejection | Superseded) -> Outcome:
        """Before a refusal stands, rule out that it was this message's own earlier effects that the handler met."""
        if outcome := await self._look(intake, Told.REDELIVERED, None):
            return outcome
        raise refusal

    def _judge(self, intake: _Intake, told: Told, marker: Marker | None) -> Outcome | None:
        seen = standing(marker, key=intake.key, fingerprint=intake.fingerprint, attempt_id=intake.attempt_id)
        verdict = TRANSITIONS[told, seen]
        if verdict is Verdict.RUN:
            return None
        if marker is None:
            raise TransientFailure(f"A conflict promised marker {intake.marker_id}, and a read does not show it.")
        match verdict:
            case Verdict.PROCESSED:
                self._remember(marker)
                return Processed(marker.result)
            case Verdict.DUPLICATE:
                self._remember(marker)
                return Duplicate(marker.result, marker.processed_at)
            case Verdict.FINGERPRINT_MISMATCH:
                raise FingerprintMismatch(
                    f"{intake.key} was processed with content {marker.fingerprint}; this delivery carries "
                    f"{intake.fingerprint}. Find out who reused the id."
                )
        raise IdentityMismatch(f"Document {intake.marker_id} is there and was not written by {intake.key}.")

    async def _run(self, intake: _Intake, bookmark: str | None) -> Outcome:
        """Let the handler stage its writes and commit them with the marker: the one round trip of a new message."""
        work = UnitOfWork(self.store, intake.partition, bookmark=bookmark)
        try:
            result = await self.handler(self.parse(intake.delivery), work)
            marker = self._marker(intake, result)
            operations = self.placement.with_marker(intake.marker_id, marker, work.operations)
            await self.store.commit(intake.partition, operations)
        except (Rejection, Superseded) as refusal:
            return await self._confirm(intake, refusal)
        except CommitConflict as conflict:
            if conflict.index == 0:  # always the marker's create, see `Placement`
                raise _MarkerConflict(conflict.bookmark) from conflict
            raise _LostRace(conflict, operations[conflict.index].id) from conflict
        self._remember(marker)
        return Processed(result)

    def _marker(self, intake: _Intake, result: Json) -> Marker:
        return Marker(
            key=intake.key.digest,
            consumer=self.name,
            source=intake.key.source,
            message_id=intake.key.text,
            fingerprint=intake.fingerprint,
            attempt_id=intake.attempt_id,
            delivery_attempt=intake.delivery.attempt,
            processed_at=self.clock.now(),
            result=result,
        )

    async def _hold(self, intake: _Intake, patience: Patience, failure: TransientFailure) -> None:
        delay = patience.delay_after(failure)
        self.hook(Retrying(consumer=self.name, key=intake.key.digest, cause=failure, delay=delay))
        await self.clock.sleep(delay)

    def _recall(self, intake: _Intake) -> Marker | None:
        return self.cache.recall(intake.key.digest, self.clock.now()) if self.cache else None

    def _remember(self, marker: Marker) -> None:
        if self.cache:
            self.cache.remember(marker)


class _MarkerConflict(Exception):
    """The commit met the marker: somebody, perhaps we, has done this message."""

    def __init__(self, bookmark: str | None) -> None:
        super().__init__(bookmark)
        self.bookmark = bookmark


class _LostRace(Exception):
    """The marker was accepted and a business document was not: somebody else wrote it meanwhile."""

    def __init__(self, conflict: CommitConflict, document: str) -> None:
        super().__init__(str(conflict))
        self.document = document
        self.create = isinstance(conflict, Conflict)
        self.bookmark = conflict.bookmark


def _verdict_on(races: list[_LostRace]) -> TransientFailure:
    """What it means to lose so many. Raises `AlreadyExists` for a handler that creates the same document every time,
    although it could see that it is there: more runs would not end that."""
    last = races[-1]
    if all(race.create and race.document == last.document for race in races):
        raise AlreadyExists(f"Document {last.document} is there already, and another message wrote it.") from last
    failure = TransientFailure(f"Lost {len(races)} races, the last for document {last.document}.")
    failure.__cause__ = last.__cause__
    return failure


def _race_delay(lost_races: int, uniform: float) -> float:
    """Seconds before a handler runs again: short, doubling, and random, so that rivals do not meet again."""
    first = 0.01
    return first * 2.0**lost_races * uniform
