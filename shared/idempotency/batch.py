"""Many deliveries of one partition: their writes and their markers share commits, in the order of arrival.

All that is learnt of markers, from the cache, from a read, or from our own commit, goes into one place and judges
whatever delivery it belongs to: an event repeated within the batch is a duplicate of the one before it, and an event
committed by us is processed. What cannot share a commit, because a handler refuses it or it is too large by itself, is
settled alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .attempts import Attempts, LostRace, MarkerConflict
from .course import Underway
from .errors import AlreadyExists, CommitConflict, Rejection, Superseded, TooLarge, TransientFailure
from .marker import Marker, Told
from .patience import Patience
from .placement import marker_in
from .unit_of_work import Operation, UnitOfWork

if TYPE_CHECKING:
    from .consumer import IdempotentConsumer

_MOST_IN_A_COMMIT = 99
"""Every delivery brings a marker, and all of them at least one document: no store takes more than 100 operations."""


@dataclass(frozen=True, slots=True)
class _Staged:
    """A delivery whose writes are staged, with all that is staged up to and including it."""

    underway: Underway
    marker: Marker
    operations: list[Operation]


class Group:
    """The deliveries of one batch that share a partition."""

    def __init__(self, consumer: "IdempotentConsumer[Any]", members: Sequence[Underway], patience: Patience) -> None:
        self._consumer = consumer
        self._first = members[0].intake
        self._partition = self._first.partition
        self._pending = list(members)
        self._patience = patience
        self._known: dict[str, Marker] = {}

    async def settle(self) -> None:
        """Give every member its outcome. Raises as `IdempotentConsumer.consume` does; those done keep their outcome."""
        for member in self._pending:
            if marker := self._consumer.recall(member.intake):
                self._known[marker.key] = marker
        redelivered = any(member.intake.delivery.attempt > 1 for member in self._pending)
        attempts = self._attempts(Told.REDELIVERED if redelivered else None)
        while self._judge_what_is_known():
            if len(self._pending) == 1:
                await self._settle_alone(self._pending[0])
                continue
            try:
                if attempts.told:
                    await self._look(attempts)
                    attempts.told = None
                elif staged := await self._stage(attempts.bookmark):
                    await self._commit(staged)
                    attempts = self._attempts(None)
                else:
                    await self._settle_alone(self._pending[0])
            except (MarkerConflict, LostRace, TransientFailure) as failure:
                try:
                    await attempts.failed(failure)
                except AlreadyExists:  # of one of them: each finds out for itself
                    for member in self._pending:
                        await self._settle_alone(member)

    def _attempts(self, told: Told | None) -> Attempts:
        return self._consumer.attempts(told, self._first, self._patience)

    def _judge_what_is_known(self) -> bool:
        """Settle every pending member whose marker is known; whether any is left."""
        for member in self._pending:
            marker = self._known.get(member.intake.key.digest)
            if marker and member.course.outcome is None:
                try:
                    member.course.outcome = member.intake.judge(Told.REDELIVERED, marker)
                except Rejection as rejection:
                    member.course.refused(rejection)
        self._pending = [member for member in self._pending if member.course.outcome is None]
        return bool(self._pending)

    async def _look(self, attempts: Attempts) -> None:
        """Learn in one request which markers exist of those that the next commit would write."""
        front = self._pending[:_MOST_IN_A_COMMIT]
        ids = list(dict.fromkeys(member.intake.marker_id for member in front))
        found = await self._consumer.store.read_many(self._partition, ids, bookmark=attempts.bookmark)
        if not found and attempts.told is Told.CONFLICT:
            raise TransientFailure("A conflict promised a marker, and a read shows none.")
        for member in front:
            try:
                if marker := marker_in(found.get(member.intake.marker_id)):
                    member.intake.judge(Told.REDELIVERED, marker)
                    self._learn(marker)
            except Rejection as rejection:
                member.course.refused(rejection)

    def _learn(self, marker: Marker) -> None:
        self._known[marker.key] = marker
        self._consumer.remember(marker)

    async def _stage(self, bookmark: str | None) -> list[_Staged]:
        """Let the handler run for one delivery after the other, each seeing what those before it staged."""
        consumer = self._consumer
        work = UnitOfWork(consumer.store, self._partition, bookmark=bookmark)
        staged: dict[str, _Staged] = {}
        for member in self._pending[:_MOST_IN_A_COMMIT]:
            if member.intake.key.digest in staged:
                continue  # a repeat: known as soon as the first is committed
            try:
                message = consumer.parse(member.intake.delivery)
            except Rejection:
                continue  # touches nothing, so it can be settled after those behind it
            try:
                result = await consumer.handler(message, work)
            except Exception:  # noqa: BLE001 - nothing is swallowed: alone, and in its turn, it fails again
                break
            marker = member.intake.marker(result, consumer.clock.now())
            staged[marker.key] = _Staged(member, marker, work.operations)
        return list(staged.values())

    async def _commit(self, staged: Sequence[_Staged]) -> None:
        """Commit as many from the front as fit into one commit; the rest stays pending."""
        while True:
            operations = staged[-1].operations
            for one in reversed(staged):
                operations = self._consumer.placement.with_marker(one.underway.intake.marker_id, one.marker, operations)
            try:
                await self._consumer.store.commit(self._partition, operations)
                break
            except TooLarge:
                if len(staged) == 1:
                    return await self._settle_alone(staged[0].underway)
                staged = staged[: len(staged) // 2]
            except CommitConflict as conflict:
                if conflict.index < len(staged):
                    raise MarkerConflict(conflict.bookmark) from conflict
                raise LostRace(conflict, operations[conflict.index].id) from conflict
        for one in staged:
            self._learn(one.marker)
        return None

    async def _settle_alone(self, member: Underway) -> None:
        try:
            member.course.outcome = await self._consumer.settle(member.intake, self._patience)
        except (Rejection, Superseded) as refusal:
            member.course.refused(refusal)
