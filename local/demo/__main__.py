"""`make run`: processes orders while workers die and messages come twice, then proves what was lost or doubled."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from azure.core.exceptions import AzureError

from local.stack import ControlFailed, PartFailed, Stack, run_until_signal
from local.stack.supervisor import LOGS, TOPOLOGY

from .evidence import gather_evidence
from .ledger import Ledger, differences, reckon, rows
from .plan import Fate, Plan, draw
from .progress import Progress
from .story import Standstill, Story
from .topology import read_topology

LEDGER = "ledger.json"
"""Beside the parts' logs."""


def main() -> int:
    """Exit code 0: all is as planned; 1: it is not, or the run failed; 2: the arguments make no sense."""
    parser = argparse.ArgumentParser(prog="python -m local.demo", description=__doc__)
    parser.add_argument("--orders", type=int, default=200, help="how many orders are placed")
    parser.add_argument("--duplicates", type=float, default=0.3, help="share of messages that are sent twice, 0 to 1")
    parser.add_argument("--crashes", type=int, default=2, help="how often the worker is killed, at most once an order")
    parser.add_argument("--seed", type=int, default=1, help="the same seed sends the same messages")
    given = parser.parse_args()
    if given.orders < 1 or not 0 <= given.duplicates <= 1 or not 0 <= given.crashes <= given.orders:
        parser.error("orders is at least 1, duplicates lies between 0 and 1, crashes between 0 and orders")
    plan = draw(orders=given.orders, duplicates=given.duplicates, crashes=given.crashes, seed=given.seed)
    return run_until_signal(run(plan, LOGS))


async def run(plan: Plan, directory: Path) -> int:
    """Do all of it; logs and ledger go to the directory. Answers the exit code."""
    progress, began = Progress(), monotonic()
    topology = read_topology(TOPOLOGY)
    progress.say(_outlook(plan))
    progress.say("Starting broker, database, storage and Functions host …")
    try:
        async with (
            Stack.running(azurite=True, logs=directory) as stack,
            Story.beginning(stack, topology, progress) as story,
        ):
            standstill = await _told(story, plan)
            ledger = reckon(plan, await gather_evidence(stack, topology))
    except (PartFailed, ControlFailed, AzureError, TimeoutError) as failure:
        print(f"\nThe run failed: {failure or type(failure).__name__}", file=sys.stderr)
        print(f"The parts' logs are in {directory}.", file=sys.stderr)
        return 1
    write_ledger(ledger, directory / LEDGER)
    progress.say(f"\n{table(plan, ledger)}\n")
    code = verdict([*standstill, *differences(plan, ledger)], progress)
    progress.say(f"{monotonic() - began:.0f} s. Ledger and logs: {directory}")
    return code


async def _told(story: Story, plan: Plan) -> list[str]:
    """Tell the story to its end, or as far as it goes: the ledger then shows what is missing."""
    try:
        await story.tell(plan)
    except Standstill as standstill:
        return [str(standstill)]
    return []


def verdict(wrong: Sequence[str], progress: Progress) -> int:
    """Say how it went; answer the exit code."""
    for difference in wrong:
        progress.say(f"DIFFERS  {difference}")
    progress.say("Not as it has to be." if wrong else "Nothing lost, nothing doubled.")
    return 1 if wrong else 0


def write_ledger(ledger: Ledger, path: Path) -> None:
    """For programs that read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(ledger.as_json(), indent=2) + "\n", encoding="utf-8")


def table(plan: Plan, ledger: Ledger) -> str:
    """For people: read from the broker and the database, beside what the plan expects."""
    lines = [f"{'read from the broker and the database':<40}{'found':>8}{'expected':>10}"]
    for what, found, expected in rows(plan, ledger):
        lines.append(f"{what:<40}{_number(found):>8}{'' if expected is None else _number(expected):>10}")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.4g}" if value % 1 else str(value)


def _outlook(plan: Plan) -> str:
    fates = plan.fates()
    soon, late = fates[Fate.DROPPED], fates[Fate.ABSORBED]
    refused = fates.total() - soon - late - fates[Fate.PROCESSED]
    crashes = sum(wave.crash is not None for wave in plan.waves)
    return (
        f"{fates[Fate.PROCESSED]} orders and customers; {soon} sent again at once, {late} after the broker forgot them;"
        f" {refused} messages that must be refused; {crashes} crashes."
    )


if __name__ == "__main__":
    sys.exit(main())
