"""The whole demo, small: real parts, real SDKs, Microsoft's worker, the app of this checkout."""

import json
from pathlib import Path

from local.demo.__main__ import run
from local.demo.plan import draw


async def test_a_small_run_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """One worker dies before its commit and one after; the ledger says that nobody would know."""
    plan = draw(orders=12, duplicates=0.5, crashes=2, seed=5)
    assert await run(plan, tmp_path) == 0
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    assert (ledger["lost"], ledger["doubled"], ledger["store_round_trips_per_new_message"]) == (0, 0, 1.0)
    assert ledger["documents"] == ledger["expected"]
    assert ledger["deliveries"] > ledger["sent"] - ledger["dropped_by_broker"]
