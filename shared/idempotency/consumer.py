"""READ THIS FIRST: the flow that makes a second delivery harmless.

A delivery has a key. Its first delivery is processed without looking: the handler stages its writes, and they are
committed together with a marker in one atomic step. A marker that is there already makes that commit fail as a whole;
only then, or when the broker says that it delivered before, is the marker read and compared.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from .attempts import Attempts, LostRace, MarkerConflict
from .batch import Group
from .cache import CompletedMarkers
from .clock import Clock, SystemClock
from .course import Course, Underway
from .delivery import Delivery
from .errors import CommitConflict, Rejection, Superseded, TooLarge, TransientFailure
from .fingerprint import Fingerprint
from .hooks import Hook, Retrying, silent
from .intake import Intake
from .keys import DeduplicationKey
from .marker import Marker, Told
from .outcome import Json, Outcome, Processed
from .patience import Patience
from .placement import Placement, marker_in
from .unit_of_work import Store, UnitOfWork

type Handler[M] = Callable[[M, UnitOfWork], Awaitable[Json]]
"""Business only: reads and stages through the unit of work, returns what duplicates get back. May run several times."""

_MAX_BODY_BYTES = 256 * 1024
"""The largest message of Service Bus Standard (Microsoft Learn, "Service Bus quotas")."""
_GROUPS_AT_ONCE = 8
"""Partitions of one batch that are worked on side by side: enough to hide a round trip, few enough for one connection
pool and one instance."""


def message_id(delivery: Delivery) -> object:
    """The default identity: the producer's message id."""
    return delivery.message_id


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

    async def consume(self, delivery: Delivery, *, patience: float = 0.0) -> Outcome:
        """Process a delivery with an effectively-once result.

        `patience`: seconds for which a transient failure may be waited out inside this call; the caller keeps the
        message locked that long. Raises `TransientFailure` when that was not enough, and whatever programming error the
        handler raised: both mean "deliver again". Every other end is an `Outcome`.
        """
        (outcome,) = await self.consume_all((delivery,), patience=patience)
        return outcome

    async def consume_all(self, deliveries: Sequence[Delivery], *, patience: float = 0.0) -> list[Outcome]:
        """Process many deliveries; the outcomes are in their order.

        Deliveries of one partition share commits and keep their order; partitions run side by side. Raises as `consume`
        does, when all partitions have come to an end: what is done by then is done, and is a duplicate next time.
        """
        started = self.clock.monotonic()
        courses = [Course(delivery) for delivery in deliveries]
        groups: dict[str, list[Underway]] = {}
        for course in courses:
            if intake := self._take_in(course):
                groups.setdefault(intake.partition, []).append(Underway(course, intake))
        try:
            await self._settle_groups(list(groups.values()), patience)
        finally:
            seconds = self.clock.monotonic() - started
            for course in courses:
                self.hook(course.ended(self.name, seconds))
        return [course.result() for course in courses]

    def _take_in(self, course: Course) -> Intake | None:
        """Decide what a delivery is before any store is asked; None when that already is its end."""
        delivery = course.delivery
        try:
            key = course.key = DeduplicationKey.of(self.name, delivery.source, self.identity(delivery))
            if (size := len(delivery.body)) > self.max_body_bytes:
                raise TooLarge(f"The body has {size} bytes; {self.name} reads at most {self.max_body_bytes}.")
            return Intake(
                delivery=delivery,
                key=key,
                fingerprint=Fingerprint.of(delivery.body),
                partition=self.partition(delivery),
                marker_id=self.placement.marker_id(delivery, key),
                attempt_id=uuid4().hex,
            )
        except Rejection as rejection:
            course.refused(rejection)
        except Exception as error:  # noqa: BLE001 - a programming error, raised when the others are done
            course.error = error
        return None

    async def _settle_groups(self, groups: list[list[Underway]], patience: float) -> None:
        at_once = asyncio.Semaphore(_GROUPS_AT_ONCE)

        async def settle(members: list[Underway]) -> None:
            group = Group(self, members, Patience(patience, self.clock, self.random))
            try:
                async with at_once:
                    await group.settle()
            except BaseException as error:  # noqa: BLE001 - kept with its deliveries, and raised when the others are done
                for member in members:
                    member.course.error = error

        await asyncio.gather(*map(settle, groups))

    async def settle(self, intake: Intake, patience: Patience) -> Outcome:
        """Look where a duplicate is likely, run where it is not, and let conflicts decide which it was.

        The flow of one delivery. Raises a `Rejection` or `Superseded` for a refusal, and as `consume` does.
        """
        known = self.recall(intake)
        if known and (outcome := intake.judge(Told.REDELIVERED, known)):
            return outcome
        attempts = self.attempts(Told.REDELIVERED if intake.delivery.attempt > 1 else None, intake, patience)
        while True:
            try:
                if attempts.told and (outcome := await self._look(intake, attempts.told, attempts.bookmark)):
                    return outcome
                attempts.told = None
                return await self._run(intake, attempts.bookmark)
            except (MarkerConflict, LostRace, TransientFailure) as failure:
                await attempts.failed(failure)

    async def _look(self, intake: Intake, told: Told, bookmark: str | None) -> Outcome | None:
        """Read the marker and say what it means; None means run."""
        marker = marker_in(await self.store.read(intake.partition, intake.marker_id, bookmark=bookmark))
        outcome = intake.judge(told, marker)
        if marker:
            self.remember(marker)
        return outcome

    async def _run(self, intake: Intake, bookmark: str | None) -> Outcome:
        """Let the handler stage its writes and commit them with the marker: the one round trip of a new message."""
        work = UnitOfWork(self.store, intake.partition, bookmark=bookmark)
        try:
            result = await self.handler(self.parse(intake.delivery), work)
            marker = intake.marker(result, self.clock.now())
            operations = self.placement.with_marker(intake.marker_id, marker, work.operations)
            await self.store.commit(intake.partition, operations)
        except (Rejection, Superseded) as refusal:
            return await self._confirm(intake, refusal)
        except CommitConflict as conflict:
            if conflict.index == 0:  # always the marker's create, see `Placement`
                raise MarkerConflict(conflict.bookmark) from conflict
            raise LostRace(conflict, operations[conflict.index].id) from conflict
        self.remember(marker)
        return Processed(result)

    async def _confirm(self, intake: Intake, refusal: Rejection | Superseded) -> Outcome:
        """Before a refusal stands, rule out that it was this message's own earlier effects that the handler met."""
        if outcome := await self._look(intake, Told.REDELIVERED, None):
            return outcome
        raise refusal

    def attempts(self, told: Told | None, intake: Intake, patience: Patience) -> Attempts:
        """The tries of one commit that begins with this delivery."""

        def on_wait(cause: TransientFailure, delay: float) -> None:
            delivery, key = intake.delivery, intake.key.digest
            self.hook(Retrying(consumer=self.name, delivery=delivery, key=key, cause=cause, delay=delay))

        return Attempts(told, patience, self.clock, self.random, on_wait)

    def recall(self, intake: Intake) -> Marker | None:
        """The marker of a delivery, if this process remembers it."""
        return self.cache.recall(intake.key.digest, self.clock.now()) if self.cache else None

    def remember(self, marker: Marker) -> None:
        """Keep a marker that is committed, where markers are kept in the process."""
        if self.cache:
            self.cache.remember(marker)
