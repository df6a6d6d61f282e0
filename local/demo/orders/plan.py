"""Which messages are sent, in which order, and what has to become of each: decided from a seed before anything runs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from random import Random

from ..crash import MOMENTS, Moment
from ..documents import Effect
from ..producers import UNSTABLE_IDS, body, body_cut_off, body_written_anew
from .entities import Customer, Entity, Order, draw_order

FIRST_ORDER = 1001
ORDERS_PER_CUSTOMER = 10
FEW_REUSED_IDS = 4
"""Ids that come again with other content: enough to hit both queues with most seeds."""


class Fate(StrEnum):
    """What has to become of a message. The last four are the reasons it is dead-lettered for."""

    PROCESSED = "processed"
    DROPPED = "dropped by the broker"
    ABSORBED = "absorbed by its marker"
    FINGERPRINT_MISMATCH = "FingerprintMismatch"
    MALFORMED = "Malformed"
    NO_STABLE_KEY = "NoStableKey"
    IDENTITY_MISMATCH = "IdentityMismatch"


REJECTIONS = (Fate.FINGERPRINT_MISMATCH, Fate.MALFORMED, Fate.NO_STABLE_KEY, Fate.IDENTITY_MISMATCH)


@dataclass(frozen=True, slots=True)
class Message:
    """One message to send."""

    queue: str
    """Where to."""
    message_id: str
    """Its MessageId."""
    body: bytes
    """Its body."""
    fate: Fate
    """What has to become of it."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The worker is killed while one of its commits is on the way."""

    at: int
    """Before which message of the wave the trap is laid: the next commit springs it."""
    moment: Moment
    """Before or after that commit is carried out."""


@dataclass(frozen=True, slots=True)
class Wave:
    """Messages sent in one go."""

    messages: Sequence[Message]
    """In this order."""
    crash: Crash | None
    """What happens meanwhile."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be sent."""

    waves: Sequence[Wave]
    """Sent one after the other inside the detection window."""
    late: Sequence[Message]
    """Sent once the window has passed."""
    effects: Counter[Effect]
    """The documents that have to be found afterwards."""

    def messages(self) -> Iterator[Message]:
        """All, in the order they are sent."""
        return chain(*(wave.messages for wave in self.waves), self.late)

    def fates(self) -> Counter[Fate]:
        """How many messages have to end in which way."""
        return Counter(message.fate for message in self.messages())


def draw(*, orders: int, duplicates: float, crashes: int, seed: int) -> Plan:
    """A plan for so many orders, a share of messages sent twice, and so many crashes; the same for the same arguments.

    `duplicates` lies between 0 and 1, `crashes` between 0 and `orders`.
    """
    random = Random(seed)  # noqa: S311  (a seed shall repeat the run)
    customer_count = max(1, orders // ORDERS_PER_CUSTOMER)
    customers = [Customer(f"C-{n}", f"c{n}@example.com") for n in range(1, customer_count + 1)]
    placed = [draw_order(FIRST_ORDER + n, customer_count, random) for n in range(orders)]
    entities: list[Entity] = [*placed, *customers]
    random.shuffle(entities)

    copies = round(duplicates * len(entities))
    soon = random.sample(entities, copies // 2 + copies % 2)
    late = random.sample(entities, copies // 2)
    # Never of an id that also comes late unchanged: the broker would drop the second of the two.
    unchanged = set(late)
    candidates = [entity for entity in entities if entity not in unchanged]
    reused = random.sample(candidates, min(FEW_REUSED_IDS, len(candidates)))

    late_messages = [_again(entity) for entity in late] + [_reused(entity) for entity in reused]
    random.shuffle(late_messages)
    waves = _waves(entities, set(soon), crashes, random)
    return Plan(waves, late_messages, Counter(chain.from_iterable(entity.effects() for entity in entities)))


def outlook(plan: Plan) -> str:
    """What is going to happen, in a sentence."""
    fates = plan.fates()
    soon, late = fates[Fate.DROPPED], fates[Fate.ABSORBED]
    refused = fates.total() - soon - late - fates[Fate.PROCESSED]
    crashes = sum(wave.crash is not None for wave in plan.waves)
    return (
        f"{fates[Fate.PROCESSED]} orders and customers; {soon} sent again at once, {late} after the broker forgot them;"
        f" {refused} messages that must be refused; {crashes} crashes."
    )


def _waves(entities: Sequence[Entity], copied: set[Entity], crashes: int, random: Random) -> list[Wave]:
    count = crashes + 1
    odd = _odd_messages(FIRST_ORDER + len(entities), random)
    waves = []
    for n in range(count):
        originals = entities[n::count]
        messages = [_first(entity) for entity in originals] + odd[n::count]
        random.shuffle(messages)
        for entity in originals:
            if entity in copied:
                behind = messages.index(_first(entity)) + 1
                messages.insert(random.randint(behind, len(messages)), _first(entity, Fate.DROPPED))
        trap = messages.index(_first(random.choice(originals)))  # a message that surely commits
        waves.append(Wave(messages, Crash(trap, MOMENTS[n % len(MOMENTS)]) if n < crashes else None))
    return waves


def _queue(entity: Entity) -> str:
    return "orders" if isinstance(entity, Order) else "customers"


def _first(entity: Entity, fate: Fate = Fate.PROCESSED) -> Message:
    return Message(_queue(entity), entity.message_id, body(entity.as_json()), fate)


def _again(entity: Entity) -> Message:
    return Message(_queue(entity), entity.message_id, body_written_anew(entity.as_json()), Fate.ABSORBED)


def _reused(entity: Entity) -> Message:
    return Message(_queue(entity), entity.message_id, body(entity.altered().as_json()), Fate.FINGERPRINT_MISMATCH)


def _odd_messages(first_unused: int, random: Random) -> list[Message]:
    """A few of every kind that has to be refused."""
    cut, unpriced, mixed_up, unknown, *keyless = (
        draw_order(first_unused + n, 1, random) for n in range(4 + len(UNSTABLE_IDS))
    )
    no_price = unpriced.as_json()
    del no_price["lines"][0]["unitPrice"]
    return [
        Message("orders", cut.message_id, body_cut_off(cut.as_json()), Fate.MALFORMED),
        Message("orders", unpriced.message_id, body(no_price), Fate.MALFORMED),
        Message("customers", "C-without-email", body({"customerId": "C-without-email"}), Fate.MALFORMED),
        Message("orders", mixed_up.message_id, body(unknown.as_json()), Fate.IDENTITY_MISMATCH),
        *(
            Message("orders", unstable, body(order.as_json()), Fate.NO_STABLE_KEY)
            for unstable, order in zip(UNSTABLE_IDS, keyless, strict=True)
        ),
    ]
