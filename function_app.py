"""Triggers only: bind, hand over, return. What happens to a message is declared in shared/wiring.py."""

import json
import typing

import azure.functions as func

from shared import wiring
from shared.transports import event_hubs, service_bus
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


# retry: without it the checkpoint passes a batch that failed. It never gives up, for only an outage or a bug makes the
# function fail: a short one costs a second, and the end of a long one is noticed within a minute.
# typing.List: the worker does not take list[...] for a batch.


@app.event_hub_message_trigger(
    arg_name="events",
    event_hub_name="stock-movements",
    connection="EventHubConnection",
    consumer_group="$Default",
    cardinality=func.Cardinality.MANY,
    data_type=func.DataType.BINARY,
)
@app.retry(
    strategy="exponential_backoff", max_retry_count="-1", minimum_interval="00:00:01", maximum_interval="00:01:00"
)
async def record_movement(events: typing.List[func.EventHubEvent], context: func.Context) -> None:  # noqa: UP006
    await event_hubs.consume(wiring.stream_consumer("record_movement"), events, context)


@app.route(route="health", trigger_arg_name="request", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
async def health(request: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001 - the trigger's
    ailment = await wiring.app().ailment()
    body = json.dumps({"status": "unavailable" if ailment else "ok", "reason": ailment})
    return func.HttpResponse(body, status_code=503 if ailment else 200, mimetype="application/json")
