"""One run from its beginning to its verdict: start everything, tell both stories, gather evidence, draw the balance."""

import sys
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from azure.core.exceptions import AzureError

from local.stack import ControlFailed, PartFailed, Stack
from local.stack.supervisor import TOPOLOGY

from . import orders, stream, telemetry
from .progress import Progress
from .report import differences, table, verdict, write_ledger
from .standstill import Standstill
from .topology import Topology, read_topology

LEDGER = "ledger.json"
"""Beside the parts' logs."""


async def run(messages: orders.Plan, events: stream.Plan, directory: Path) -> int:
    """Do all of it; logs and ledger go to the directory. Answers the exit code."""
    progress, began = Progress(), monotonic()
    topology = read_topology(TOPOLOGY)
    progress.say(orders.outlook(messages))
    if events.batches:
        progress.say(stream.outlook(events))
    progress.say("Starting brokers, database, storage, monitor and Functions host …")
    try:
        async with Stack.running(azurite=True, monitor=True, logs=directory) as stack:
            standstill = await _told(messages, events, stack, topology, progress)
            ledger = orders.reckon(messages, await orders.gather_evidence(stack, topology))
            stream_ledger = stream.reckon(events, await stream.gather_evidence(stack, topology))
            told, traces = await telemetry.gather(stack.monitor), stack.monitor.traces
    except (PartFailed, ControlFailed, AzureError, TimeoutError) as failure:
        print(f"\nThe run failed: {failure or type(failure).__name__}", file=sys.stderr)
        print(f"The parts' logs are in {directory}.", file=sys.stderr)
        return 1
    write_ledger(as_json(ledger, stream_ledger), directory / LEDGER)
    message_rows, event_rows = orders.rows(messages, ledger), stream.rows(events, stream_ledger)
    progress.say(f"\n{table('read from the broker and the database', message_rows)}\n")
    if events.batches:
        progress.say(f"{table('read from stream, database and storage', event_rows)}\n")
    progress.say(f"{telemetry.table(told)}\n{telemetry.FOOTNOTE}\n")
    wrong = differences([*message_rows, *event_rows]) + stream.wrong_levels(stream_ledger)
    code = verdict([*standstill, *wrong], progress)
    progress.say(f"{monotonic() - began:.0f} s. Ledger and logs: {directory}  Traces: {traces}")
    return code


def as_json(messages: orders.Ledger, events: stream.Ledger) -> dict[str, Any]:
    """Both ledgers as ledger.json has them."""
    return asdict(messages) | {"events": asdict(events)}


async def _told(
    messages: orders.Plan, events: stream.Plan, stack: Stack, topology: Topology, progress: Progress
) -> list[str]:
    """Tell the stories to their end, or as far as they go: the ledger then shows what is missing."""
    try:
        await orders.tell(messages, stack, topology, progress)
        await stream.tell(events, stack, progress)
    except Standstill as standstill:
        return [str(standstill)]
    return []
