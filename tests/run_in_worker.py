"""Runs in a process of its own: the app in Microsoft's worker library, as the Functions host would start it.

`python -m tests.run_in_worker [--host H --port P] [--invoke NAME]` writes one JSON object: the indexed functions with
their bindings or the worker's error, and how the invocation ended. Host and port are read by the app, as in a worker.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from local.host import wire
from local.host.worker import runtime

from . import examples

APP = Path(__file__).parents[1]


async def main(invoked: str | None) -> dict[str, Any]:
    indexed = await runtime.index(str(APP))
    if isinstance(indexed, wire.IndexingFailed):
        return {"error": f"{indexed.message}\n{indexed.stack_trace}"}
    found: dict[str, Any] = {
        "functions": {
            function.name: [json.loads(raw) for raw in function.raw_bindings] for function in indexed.functions
        }
    }
    for function in indexed.functions:
        if function.name == invoked:
            request = health_request(function) if function.name == "health" else keyless_message(function)
            result = await runtime.invoke(request)
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


def health_request(function: wire.Function) -> wire.Invoke:
    """GET /api/health."""
    http = wire.HttpData(wire.TypedData(), {}, "GET", "http://127.0.0.1/api/health")
    return wire.Invoke("1", function.function_id, "request", wire.TypedData(http=http), {}, "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--invoke")
    sys.stdout.write(json.dumps(asyncio.run(main(parser.parse_known_args()[0].invoke))))
