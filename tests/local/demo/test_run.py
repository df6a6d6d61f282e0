"""The whole demo, small: real parts, real SDKs, Microsoft's worker, the app of this checkout."""

import json
from pathlib import Path

from local.demo import orders, stream
from local.demo.run import run


async def test_a_small_run_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """One worker dies before its commit and one after, for orders and for events; nobody would know."""
    messages = orders.draw(orders=12, duplicates=0.5, crashes=2, seed=5)
    events = stream.draw(events=150, duplicates=0.5, crashes=2, seed=5)
    assert await run(messages, events, tmp_path) == 0
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    assert (ledger["lost"], ledger["doubled"], ledger["store_round_trips_per_new_message"]) == (0, 0, 1.0)
    assert ledger["documents"] == ledger["expected"]
    assert ledger["deliveries"] > ledger["sent"] - ledger["dropped_by_broker"]

    streamed = ledger["events"]
    assert (streamed["lost"], streamed["doubled"], streamed["sent"]) == (0, 0, 150)
    assert streamed["levels"] == streamed["expected"]
    assert streamed["parked"] == {str(fate): n for fate, n in events.fates().items() if fate.is_parked}
    assert streamed["delivered"] > streamed["sent"]
    assert 0 < streamed["store_requests_per_event"] < 1

    spans = [json.loads(line) for line in (tmp_path / "traces.jsonl").read_text().splitlines()]
    assert {"process orders", "commit orders", "process stock-movements", "commit stock"} <= {s["name"] for s in spans}
