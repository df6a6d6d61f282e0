"""How much a batch saves: `consume_all` against one-by-one `consume` of the same events, on the same store, in one run.

    python -m bench.event_batches [--events 2000] [--skus 10] [--rounds 3] [--latency 0]

The store is the real one, `CosmosStore` with Microsoft's SDK, against the local database in a process of its own; with
`--latency` the database waits so long before each answer, as the way to Azure and back would take. Requests and request
charge are counted at the store. Times are ratios of one run on one machine; the counts do not depend on the machine.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.stack import Cosmos, Stack
from shared.idempotency import Delivery, Event, IdempotentConsumer, InboxMarker, Processed, RetentionWindow, StoreCall
from shared.retail.stock import StockMovement, record_movement, sku_of
from shared.stores.cosmos import CosmosStore
from shared.stores.cosmos_account import Account, open_client, open_container

BATCHES = (1, 10, 100, 500)
_FOR_EVER = 10**9
"""Requests that are delayed: all of them."""


@dataclass(slots=True)
class Tally:
    """What the store was asked, and what it cost."""

    requests: int = 0
    charge: float = 0.0
    seconds: float = field(default=0.0)

    def hear(self, event: Event) -> None:
        if isinstance(event, StoreCall):
            self.requests += 1
            self.charge += event.request_charge


def movements(count: int, skus: int) -> list[Delivery]:
    """Stock movements spread evenly over so many articles that nobody has seen before."""
    run = uuid.uuid4().hex[:8]
    return [_movement(f"{run}-m{n}", f"{run}-sku{n % skus}") for n in range(count)]


def _movement(movement_id: str, sku: str) -> Delivery:
    body = {
        "movementId": movement_id,
        "sku": sku,
        "warehouse": "north",
        "quantity": "1.5",
        "occurredAt": "2026-01-31T12:00:00Z",
    }
    return Delivery(source="stock-movements", message_id=movement_id, body=json.dumps(body).encode(), partition_key=sku)


@asynccontextmanager
async def consumer_over(cosmos: Cosmos, tally: Tally) -> AsyncIterator[IdempotentConsumer[StockMovement]]:
    """The sample's consumer over the local database, counted."""
    async with open_client(Account.from_connection_string(cosmos.connection_string)) as client:
        container = await open_container(client, "retail", "stock", partition_key_path="/sku")
        store = CosmosStore(container=container, partition_property="sku", hook=tally.hear)
        yield IdempotentConsumer(
            name="record_movement",
            parse=StockMovement.from_delivery,
            partition=sku_of,
            handler=record_movement,
            store=store,
            placement=InboxMarker(RetentionWindow(86_400)),
        )


async def one_by_one(consumer: IdempotentConsumer[StockMovement], events: Sequence[Delivery]) -> None:
    for event in events:
        assert isinstance(await consumer.consume(event, patience=60), Processed)


async def in_batches(consumer: IdempotentConsumer[StockMovement], events: Sequence[Delivery], size: int) -> None:
    for start in range(0, len(events), size):
        outcomes = await consumer.consume_all(events[start : start + size], patience=60)
        assert all(isinstance(outcome, Processed) for outcome in outcomes)


async def measure(cosmos: Cosmos, count: int, skus: int, size: int | None) -> Tally:
    """One way through `count` new events. `size` None is one by one."""
    tally = Tally()
    async with consumer_over(cosmos, tally) as consumer:
        await one_by_one(consumer, movements(5, 1))  # connections are open and modules loaded
        events = movements(count, skus)
        tally.requests, tally.charge = 0, 0.0
        started = time.perf_counter()
        await (one_by_one(consumer, events) if size is None else in_batches(consumer, events, size))
        tally.seconds = time.perf_counter() - started
    return tally


async def run(count: int, skus: int, rounds: int, latency: float) -> None:
    with tempfile.TemporaryDirectory() as logs:
        async with Stack.running(host=False, logs=Path(logs)) as stack:
            if latency:
                for operation in ("Batch", "Read", "Query"):
                    await stack.cosmos.fault(operation=operation, delay_ms=latency, times=_FOR_EVER)
            best: dict[int | None, Tally] = {}
            for _ in range(rounds):  # in turn, so that a slow moment of the machine hits all alike
                for size in (None, *BATCHES):
                    tally = await measure(stack.cosmos, count, skus, size)
                    if size not in best or tally.seconds < best[size].seconds:
                        best[size] = tally
                    print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    print(f"{count} new events over {skus} articles, {latency:g} ms a request, best of {rounds} rounds\n")
    print("| events at a time | events/s | times one by one | requests per event | request units per event |")
    print("|---|---|---|---|---|")
    alone = best[None]
    for size, tally in best.items():
        name = "one by one" if size is None else str(size)
        ratio = alone.seconds / tally.seconds
        print(
            f"| {name} | {count / tally.seconds:,.0f} | {ratio:.1f} |"
            f" {tally.requests / count:.2f} | {tally.charge / count:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=2000, help="events in each measurement (default 2000)")
    parser.add_argument("--skus", type=int, default=10, help="articles they are spread over (default 10)")
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is measured (default 3)")
    parser.add_argument("--latency", type=float, default=0, help="milliseconds added to each request (default 0)")
    given = parser.parse_args()
    asyncio.run(run(given.events, given.skus, given.rounds, given.latency))


if __name__ == "__main__":
    main()
