"""Triggers only: bind, hand over, return. What happens to a message is declared in shared/wiring.py."""

import json

import azure.functions as func

from shared import wiring
from shared.transports import service_bus
from shared.transports.settlement import Settlement

app = func.FunctionApp()

# data_type: without it the host decodes bodies as text, and what is not UTF-8 arrives mangled.
# auto_complete_messages: service_bus.consume settles, so that a rejected message is dead-lettered at once.


@app.service_bus_queue_trigger(
    arg_name="message",
    queue_name="orders",
    connection="ServiceBusConnection",
    data_type=func.DataType.BINARY,
    auto_complete_messages=False,
)
async def place_order(message: func.ServiceBusMessage, settlement: Settlement) -> None:
    await service_bus.consume(wiring.consumer("place_order"), message, settlement)


@app.service_bus_queue_trigger(
    arg_name="message",
    queue_name="customers",
    connection="ServiceBusConnection",
    data_type=func.DataType.BINARY,
    auto_complete_messages=False,
)
async def register_customer(message: func.ServiceBusMessage, settlement: Settlement) -> None:
    await service_bus.consume(wiring.consumer("register_customer"), message, settlement)


@app.route(route="health", trigger_arg_name="request", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
async def health(request: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001 - the trigger's
    ailment = await wiring.app().ailment()
    body = json.dumps({"status": "unavailable" if ailment else "ok", "reason": ailment})
    return func.HttpResponse(body, status_code=503 if ailment else 200, mimetype="application/json")
