"""A parked event as a row of a table, and as blobs where a row has no room.

Sources of the limits: Microsoft Learn, "Understanding the Table service data model" (keys of at most 1 KiB without
`/ \\ # ?` and control characters, properties of 64 KiB, entities of 1 MiB) and "Naming and referencing containers,
blobs, and metadata".
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from azure.data.tables import EdmType

from ..idempotency import Delivery
from ..transports.parking import ParkedEvent

MAX_BODY_BYTES = 64 * 1024
"""The largest binary property."""
MAX_MESSAGE_CHARACTERS = 32 * 1024
"""The largest text property, in UTF-16 units; the message is written in ASCII, one unit a character."""
_LONGEST_TEXT = 1024
"""Characters of a property that people search and read; two UTF-16 units each at most. Seven of them, a message and a
body of full size are a quarter of what an entity takes. The message has every text in full length."""
_LONGEST_NAME = 100
"""Characters of a part of a partition key: three of them stay far below 1 KiB."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST_DIGITS = 40
"""160 bits, as of a marker's id."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is written for one parked event."""

    entity: dict[str, Any]
    """The row. `Message` is JSON of all but the body; `MessageBlob` and `BodyBlob` name blobs that stand in for it."""
    blobs: dict[str, bytes] = field(repr=False)
    """By name; must be there before the row that refers to them."""


def row_of(event: ParkedEvent) -> Row:
    """The row of a parked event; the same event has the same keys whenever it is read again.

    Keys follow from consumer, position, identity and body: two consumers have a row each, and so have two events that a
    hub, deleted and made anew, put in one place.
    """
    partition_key, row_key = _keys(event)
    delivery, position = event.delivery, event.position
    entity: dict[str, Any] = {
        "PartitionKey": partition_key,
        "RowKey": row_key,
        "Consumer": _readable(event.consumer),
        "Reason": str(event.reason),
        "Description": _readable(event.description),
        "Hub": _readable(position.hub),
        "Partition": _readable(position.partition),
        "SequenceNumber": (position.sequence_number, EdmType.INT64),
        "Part": position.part,
        "Source": _readable(delivery.source),
        "BodyBytes": len(delivery.body),
    }
    if delivery.message_id is not None:
        entity["MessageId"] = _readable(delivery.message_id)
    if delivery.enqueued_at:
        entity["EnqueuedAt"] = delivery.enqueued_at.isoformat()  # text: a table knows no time before 1601
    blobs: dict[str, bytes] = {}
    message = _message(delivery)
    if len(message) <= MAX_MESSAGE_CHARACTERS:
        entity["Message"] = message
    else:
        entity["MessageBlob"] = f"{partition_key}/{row_key}/message.json"
        blobs[entity["MessageBlob"]] = message.encode()
    if len(delivery.body) <= MAX_BODY_BYTES:
        entity["Body"] = delivery.body
    else:
        entity["BodyBlob"] = f"{partition_key}/{row_key}/body"
        blobs[entity["BodyBlob"]] = delivery.body
    return Row(entity, blobs)


def _keys(event: ParkedEvent) -> tuple[str, str]:
    """Readable and in the order of the stream; what makes them unique is the digest."""
    position = event.position
    names = (event.consumer, position.hub, position.partition)
    partition_key = "~".join(_UNSAFE.sub("_", name)[:_LONGEST_NAME] for name in names)
    identity = json.dumps(
        [*names, position.sequence_number, position.part, event.delivery.source, event.delivery.message_id]
    )
    digest = hashlib.sha256(identity.encode() + b"\n" + event.delivery.body).hexdigest()[:_DIGEST_DIGITS]
    return partition_key, f"{position.sequence_number:020d}-{position.part:05d}-{digest}"


def _message(delivery: Delivery) -> str:
    """All but the body, nothing shortened, as JSON in ASCII: any text survives, half a surrogate pair included."""
    return json.dumps(
        {
            "source": delivery.source,
            "messageId": delivery.message_id,
            "partitionKey": delivery.partition_key,
            "contentType": delivery.content_type,
            "subject": delivery.subject,
            "correlationId": delivery.correlation_id,
            "enqueuedAt": delivery.enqueued_at.isoformat() if delivery.enqueued_at else None,
            "properties": dict(delivery.properties),
        },
        default=_bytes_as_base64,
    )


def _bytes_as_base64(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"A property of type {type(value).__name__} has no JSON form.")


def _readable(text: str) -> str:
    """Text for people: bounded, and without characters that a table, or a terminal, might trip over."""
    shown = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text[:_LONGEST_TEXT])
    return shown[:_LONGEST_TEXT]
