"""The smallest consumer there is, for tests of the flow: it counts, so that every lost or doubled effect shows."""

import json
from dataclasses import dataclass, field
from typing import Any

from shared.idempotency import (
    Delivery,
    EntityAsMarker,
    Event,
    IdempotentConsumer,
    InboxMarker,
    Malformed,
    Outcome,
    Placement,
    Processed,
    RetentionWindow,
    UnitOfWork,
)
from shared.stores.memory import MemoryStore

from .clock import ManualClock
from .faulty_store import FaultyStore

DAY = RetentionWindow(86_400)


def delivery(
    body: Any = None,
    *,
    message_id: str | None = "m1",
    attempt: int = 1,
    raw: bytes | None = None,
    account: str = "1",
) -> Delivery:
    """A delivery whose body adds `amount` to an account."""
    data = raw if raw is not None else json.dumps({"amount": 5} if body is None else body).encode()
    return Delivery(source="accounts", message_id=message_id, body=data, attempt=attempt, partition_key=account)


def parse(delivery: Delivery) -> dict[str, Any]:
    try:
        return dict(json.loads(delivery.body))
    except ValueError as error:
        raise Malformed("the body is not JSON") from error


async def add(message: dict[str, Any], work: UnitOfWork) -> dict[str, Any]:
    """Keep a sum, and a document for every message."""
    account = await work.get("account")
    total = (account["total"] if account else 0) + message["amount"]
    if account is None:
        work.create({"id": "account", "total": total})
    else:
        work.replace({**account, "total": total})
    work.create({"id": f"entry-{total}", "amount": message["amount"]})
    return {"total": total}


async def open_entity(message: dict[str, Any], work: UnitOfWork) -> dict[str, Any]:
    """Create the entity that carries its own marker."""
    work.create({"id": "m1", "amount": message["amount"]})
    return {"total": message["amount"]}


@dataclass
class Bench:
    """A consumer with its store, clock and everything it told its hook."""

    placement: Placement = field(default_factory=lambda: InboxMarker(DAY))
    handler: Any = add
    clock: ManualClock = field(default_factory=ManualClock)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memory = MemoryStore(partition_property="account", clock=self.clock)
        self.store = FaultyStore(self.memory)

    def consumer(self, **changes: Any) -> IdempotentConsumer[dict[str, Any]]:
        parts: dict[str, Any] = {
            "name": "add",
            "parse": parse,
            "partition": lambda delivery: delivery.partition_key,
            "handler": self.handler,
            "store": self.store,
            "placement": self.placement,
            "clock": self.clock,
            "hook": self.events.append,
            "random": lambda: 0.5,
        }
        return IdempotentConsumer(**(parts | changes))

    async def total(self, account: str = "1") -> int:
        """What an account holds now; 0 when nothing was ever added."""
        found = await self.memory.read(account, "account")
        return found.body["total"] if found else 0


def entity_bench() -> Bench:
    """The same flow with the business entity as its own marker."""
    return Bench(placement=EntityAsMarker(lambda delivery: str(delivery.message_id)), handler=open_entity)


FIVE = Processed({"total": 5})
"""The end of the first delivery of `delivery()`."""


def many(count: int, *, account: str = "1", amount: int = 1, attempt: int = 1) -> list[Delivery]:
    """So many different messages for one account."""
    return [
        delivery({"amount": amount}, message_id=f"{account}-{n}", attempt=attempt, account=account)
        for n in range(count)
    ]


def kinds(outcomes: list[Outcome]) -> list[type]:
    """What became of deliveries, without the details."""
    return [type(outcome) for outcome in outcomes]
