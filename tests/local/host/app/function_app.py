"""An app that does to each message what the message's `do` property says, and writes down what it saw."""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path

import azure.functions as func
import grpc
from settlement_client import Settlement

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
released = asyncio.Event()


def write_down(message: func.ServiceBusMessage, **more: object) -> None:
    seen = {
        "message_id": message.message_id,
        "delivery_count": message.delivery_count,
        "body": base64.b64encode(message.get_body()).decode(),
        "properties": message.application_properties,
        "lock_token": message.lock_token,
        "enqueued": str(message.enqueued_time_utc),
        "expires": str(message.expires_at_utc),
        "sequence_number": message.sequence_number,
        "subject": message.subject,
        "content_type": message.content_type,
        "correlation_id": message.correlation_id,
        "metadata": sorted(message.metadata),
        "pid": os.getpid(),
        **more,
    }
    with Path(os.environ["SEEN"]).open("a") as file:
        file.write(json.dumps(seen) + "\n")


@app.service_bus_queue_trigger(
    arg_name="message", queue_name="%WORK_QUEUE%", connection="Broker", auto_complete_messages=False
)
async def work(message: func.ServiceBusMessage, settlement: Settlement) -> None:
    token, do = message.lock_token, message.application_properties.get("do")
    write_down(message)
    match do:
        case "complete":
            await settlement.call("Complete", token)
        case "abandon-once" if message.delivery_count == 1:
            await settlement.call("Abandon", token)
        case "abandon-once" | "raise-once" | "hold-once" | "exit-once" if message.delivery_count > 1:
            await settlement.call("Complete", token)
        case "dead-letter":
            await settlement.call("Deadletter", token, reason="Malformed", description="no order id")
        case "dead-letter-modifying":
            await refused(message, settlement.modify("Deadletter", token))
        case "defer":
            await settlement.call("Defer", token)
        case "renew":
            await settlement.call("RenewMessageLock", token)
            await settlement.call("Complete", token)
        case "complete-twice":
            await settlement.call("Complete", token)
            await refused(message, settlement.call("Complete", token))
        case "complete-stranger":
            await refused(message, settlement.call("Complete", message.get_body().decode()))
            await settlement.call("Complete", token)
        case "raise-once":
            raise ValueError("no such customer\nsecond line")
        case "hold" | "hold-once":
            await released.wait()
            await settlement.call("Complete", token)
        case "exit-once":
            sys.exit(3)
        case "complete-then-raise":
            await settlement.call("Complete", token)
            raise ValueError("too late")


async def refused(message: func.ServiceBusMessage, call: object) -> None:
    try:
        await call  # type: ignore[misc]
    except grpc.aio.AioRpcError as error:
        write_down(message, code=error.code().name, details=error.details())


@app.service_bus_queue_trigger(
    arg_name="message", queue_name="%AUTO_QUEUE%", connection="Broker", auto_complete_messages=True
)
async def auto(message: func.ServiceBusMessage) -> None:
    write_down(message)
    if message.application_properties.get("do") == "raise-once" and message.delivery_count == 1:
        raise ValueError("not yet")


@app.service_bus_queue_trigger(
    arg_name="message", queue_name="%BINARY_QUEUE%", connection="Broker", data_type=func.DataType.BINARY
)
async def binary(message: func.ServiceBusMessage) -> None:
    write_down(message)


@app.route("release")
async def release(req: func.HttpRequest) -> func.HttpResponse:
    released.set()  # wakes those who wait now …
    released.clear()  # … and nobody after them
    return func.HttpResponse("released")
