"""Batches of events as the worker hands them to a trigger: the host's arrays, decoded by Microsoft's own converter."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import azure.functions as func
from azure.functions.eventhub import EventHubTriggerConverter
from azure.functions.meta import Datum
from azure_functions_runtime.bindings.context import Context
from azure_functions_runtime.bindings.retrycontext import RetryContext

HUB = "stock-movements"
PARTITION = "2"
FIRST = 41
"""Sequence number of a batch's first event, unless a test says otherwise."""


@dataclass(kw_only=True)
class Sent:
    """One event as its producer sent it."""

    body: bytes = b"{}"
    message_id: str | None = None
    key: str | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    system: dict[str, Any] = field(default_factory=dict)


def movement_members(movement_id: str = "m-1", sku: str = "sku-1", **changes: Any) -> dict[str, Any]:
    """Three and a half of an article leave warehouse w1."""
    members = {
        "movementId": movement_id,
        "sku": sku,
        "warehouse": "w1",
        "quantity": "-3.5",
        "occurredAt": "2026-01-31T12:00:00Z",
    }
    return members | changes


def movement_body(movement_id: str = "m-1", sku: str = "sku-1", **changes: Any) -> bytes:
    """`movement_members` as the body of an event."""
    return json.dumps(movement_members(movement_id, sku, **changes)).encode()


def movement(movement_id: str = "m-1", sku: str = "sku-1", **changes: Any) -> Sent:
    """A movement as its producer sends it: its id is the message id, its article the partition key."""
    return Sent(body=movement_body(movement_id, sku, **changes), message_id=movement_id, key=sku)


def metadata(sent: Sequence[Sent], *, first: int = FIRST, partition: str = PARTITION) -> dict[str, Datum]:
    """What the Functions host says of a batch (.NET SDK, `EventHubTriggerBindingStrategy`)."""
    numbers = list(range(first, first + len(sent)))
    times = ["2026-01-31T12:00:00.1234567"] * len(sent)
    system: list[dict[str, Any]] = []
    for number, time, event in zip(numbers, times, sent, strict=True):
        said = {"message-id": event.message_id} if event.message_id is not None else {}
        system.append(
            {
                **said,
                **event.system,
                "SequenceNumber": number,
                "Offset": number * 1000,
                "OffsetString": f"1:{number * 1000}:7",
                "PartitionKey": event.key,
                "EnqueuedTimeUtc": time,
            }
        )
    # The host leaves empty texts out of arrays of texts; its other arrays keep their length.
    keys = SimpleNamespace(string=[event.key for event in sent if event.key])
    return {
        "PartitionContext": _json({"EventHubName": HUB, "ConsumerGroup": "$Default", "PartitionId": partition}),
        "PartitionKeyArray": Datum(keys, "collection_string"),
        "SequenceNumberArray": Datum(SimpleNamespace(sint64=numbers), "collection_sint64"),
        "EnqueuedTimeUtcArray": _json(times),
        "PropertiesArray": _json([event.properties for event in sent]),
        "SystemPropertiesArray": _json(system),
    }


def batch(*sent: Sent, first: int = FIRST, partition: str = PARTITION, **arrays: object) -> list[func.EventHubEvent]:
    """The events as a trigger gets them; `arrays` replace what the host says."""
    said = metadata(sent, first=first, partition=partition)
    said |= {name: _json(value) for name, value in arrays.items()}
    bodies = Datum(SimpleNamespace(bytes=[event.body for event in sent]), "collection_bytes")
    return list(EventHubTriggerConverter.decode(bodies, trigger_metadata=said))


def context(retry_count: int = 0) -> Any:
    """The invocation's context in a given retry."""
    return Context("record_movement", ".", "1", None, None, RetryContext(retry_count, -1, None))


def _json(value: object) -> Datum:
    return Datum(json.dumps(value), "json")
