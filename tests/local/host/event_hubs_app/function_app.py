"""An app that does with each batch what an event's `do` property says, and writes down what it saw."""

import asyncio
import base64
import hashlib
import json
import os
import typing
from pathlib import Path

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
others = func.Blueprint()
released = asyncio.Event()
# Bytes.
LARGE = 10_000


def write_down(events: list[func.EventHubEvent], context: func.Context, **more: object) -> None:
    retry = context.retry_context
    seen = {
        "function": context.function_name,
        "numbers": [event.sequence_number for event in events],
        "bodies": [written(event.get_body()) for event in events],
        "keys": [event.partition_key for event in events],
        "offsets": [event.offset for event in events],
        "enqueued": [str(event.enqueued_time) for event in events],
        "metadata": events[0].metadata,
        "retry": [retry.retry_count, retry.max_retry_count, retry.rpc_exception.message],
        "pid": os.getpid(),
        **more,
    }
    with Path(os.environ["SEEN"]).open("a") as file:
        file.write(json.dumps(seen) + "\n")


def written(body: bytes) -> str:
    """A large body is written down as its digest: tests read the whole file again and again."""
    return base64.b64encode(body).decode() if len(body) < LARGE else hashlib.sha256(body).hexdigest()


def is_first(name: str) -> bool:
    """True once for each name, for however many workers there are."""
    try:
        Path(f"{os.environ['SEEN']}.{name}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


async def act(events: list[func.EventHubEvent], context: func.Context) -> None:
    write_down(events, context)
    properties = [each for each in events[0].metadata["PropertiesArray"] if "do" in each]
    for each in properties:
        match each["do"]:
            case "raise" if context.retry_context.retry_count < each.get("until", 1_000):
                raise ValueError("no such sku")
            case "hold":
                await released.wait()
                write_down(events, context, released=True)
            case "hold-once" if is_first(each["name"]):
                await released.wait()


def hub(name: str, **more: str) -> dict[str, typing.Any]:
    where = {"arg_name": "events", "event_hub_name": f"%{name}_HUB%", "connection": "Hubs"}
    return {**where, "cardinality": func.Cardinality.MANY, **more}


@app.event_hub_message_trigger(**hub("PLAIN", data_type="binary"))
async def plain(events: typing.List[func.EventHubEvent], context: func.Context) -> None:  # noqa: UP006
    await act(events, context)


@others.event_hub_message_trigger(**hub("STUBBORN", data_type="binary"))
@others.retry(strategy="fixed_delay", max_retry_count="-1", delay_interval="01:00:00")
async def stubborn(events: typing.List[func.EventHubEvent], context: func.Context) -> None:  # noqa: UP006
    await act(events, context)


@others.event_hub_message_trigger(**hub("LIMITED", data_type="binary"))
@others.retry(
    strategy="exponential_backoff", max_retry_count="2", minimum_interval="00:01:00", maximum_interval="00:10:00"
)
async def limited(events: typing.List[func.EventHubEvent], context: func.Context) -> None:  # noqa: UP006
    await act(events, context)


@others.event_hub_message_trigger(**hub("TEXTS"))
async def texts(events: typing.List[func.EventHubEvent], context: func.Context) -> None:  # noqa: UP006
    await act(events, context)


@others.event_hub_message_trigger(arg_name="event", event_hub_name="%SINGLE_HUB%", connection="Hubs")
async def single(event: func.EventHubEvent, context: func.Context) -> None:
    write_down([event], context)


@app.route("release")
async def release(req: func.HttpRequest) -> func.HttpResponse:
    released.set()  # wakes those who wait now …
    released.clear()  # … and nobody after them
    return func.HttpResponse("released")


if "PLAIN_ALONE" not in os.environ:  # each function's listener takes its time to open and to close
    app.register_functions(others)
