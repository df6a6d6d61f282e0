"""Runs in a process of its own: the app in Microsoft's worker library, as the Functions host would start it.

`python -m tests.run_in_worker [--host H --port P] [--invoke NAME]` writes one JSON object: the indexed functions with
their bindings and retry policies or the worker's error, and how the invocation ended. Host and port are read by the
app, as in a worker.
"""

import argparse
import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from azure.functions.meta import Datum

from local.host import wire
from local.host.worker import runtime

from . import event_batches, examples

APP = Path(__file__).parents[1]


async def main(invoked: str | None) -> dict[str, Any]:
    indexed = await runtime.index(str(APP))
    if isinstance(indexed, wire.IndexingFailed):
        return {"error": f"{indexed.message}\n{indexed.stack_trace}"}
    found: dict[str, Any] = {
        "functions": {
            function.name: [json.loads(raw) for raw in function.raw_bindings] for function in indexed.functions
        },
        "retries": {
            function.name: dataclasses.asdict(function.retry_policy)
            for function in indexed.functions
            if function.retry_policy
        },
    }
    for function in indexed.functions:
        if function.name == invoked:
            result = await runtime.invoke(REQUESTS.get(function.name, keyless_message)(function))
            found["failure"] = result.error
            if answer := result.returned.http:
                found["answer"] = [answer.status, (answer.body.binary or b"").decode() or answer.body.string]
    return found


def keyless_message(function: wire.Function) -> wire.Invoke:
    """A message without a message id: the app can settle it without any setting or database."""
    return wire.Invoke(
        invocation_id="1",
        function_id=function.function_id,
        parameter="message",
        value=wire.TypedData(binary=examples.place_order_body()),
        metadata={
            "UserProperties": wire.TypedData(json="{}"),
            "ApplicationProperties": wire.TypedData(json="{}"),
            "DeliveryCount": wire.TypedData(json="1"),
            "LockToken": wire.TypedData(string=examples.LOCK_TOKEN),
        },
        trace_parent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    )


def keyless_event(function: wire.Function) -> wire.Invoke:
    """A batch of one event without a message id, which the app can only park."""
    sent = [event_batches.Sent(body=event_batches.movement_body(), key="sku-1")]
    return wire.Invoke(
        invocation_id="1",
        function_id=function.function_id,
        parameter="events",
        value=wire.TypedData(binaries=tuple(event.body for event in sent)),
        metadata={name: on_the_wire(datum) for name, datum in event_batches.metadata(sent).items()},
        trace_parent="",
        retry=wire.RetryContext(retry_count=1, max_retry_count=-1),
    )


def on_the_wire(datum: Datum) -> wire.TypedData:
    """A value of the trigger's metadata as the host sends it."""
    match datum.type:
        case "collection_string":
            return wire.TypedData(strings=tuple(datum.value.string))
        case "collection_sint64":
            return wire.TypedData(integers=tuple(datum.value.sint64))
    return wire.TypedData(json=datum.value)


def health_request(function: wire.Function) -> wire.Invoke:
    """GET /api/health."""
    http = wire.HttpData(wire.TypedData(), {}, "GET", "http://127.0.0.1/api/health")
    return wire.Invoke("1", function.function_id, "request", wire.TypedData(http=http), {}, "")


REQUESTS = {"health": health_request, "record_movement": keyless_event}
"""What a function is invoked with; the others get a keyless message."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--invoke")
    sys.stdout.write(json.dumps(asyncio.run(main(parser.parse_known_args()[0].invoke))))
