"""A received Service Bus message as the Service Bus extension hands it to a language worker.

Sources: `ServiceBusTriggerBindingStrategy.cs` (names and types of the metadata) and `MessageToStringConverter.cs` (text
bodies) of Microsoft.Azure.WebJobs.Extensions.ServiceBus; the host sends numbers, dates and dictionaries as JSON.
"""

import codecs
import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.amqp import AmqpMessageBodyType

from ..wire import TypedData

# DateTimeOffset.MaxValue: what .NET reports as the expiry of a message that never expires.
_NEVER = "9999-12-31T23:59:59.9999999"
# Byte order marks that .NET's StreamReader recognises and takes off; longer marks first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class UnsupportedBody(Exception):
    """The message has no data section; the extension cannot bind it either, so the invocation fails."""


def body_value(message: ServiceBusReceivedMessage, data_type: str) -> TypedData:
    """The trigger's value. Only `dataType` "binary" keeps a body byte for byte.

    Otherwise the extension decodes text, takes off a byte order mark, and replaces what is not UTF-8 by U+FFFD.
    Raises UnsupportedBody for a sequence body, or a value body that is not a string.
    """
    if message.body_type == AmqpMessageBodyType.VALUE and isinstance(message.body, str | bytes):
        return TypedData(string=_text(message.body))
    if message.body_type != AmqpMessageBodyType.DATA:
        raise UnsupportedBody(f"a message with a {message.body_type.value} body cannot be bound")
    body = b"".join(message.body)
    return TypedData(binary=body) if data_type.lower() == "binary" else TypedData(string=_decoded(body))


def trigger_metadata(message: ServiceBusReceivedMessage) -> dict[str, TypedData]:
    """The metadata by its .NET names; what the message does not have is left out, as the host leaves nulls out."""
    enqueued = message.enqueued_time_utc
    expires = message.expires_at_utc
    properties = _json({_text(key): _plain(value) for key, value in (message.application_properties or {}).items()})
    values: dict[str, TypedData | None] = {
        # .NET counts deliveries from 1, AMQP counts earlier failures from 0.
        "DeliveryCount": _json((message.delivery_count or 0) + 1),
        "DeadLetterSource": _string(message.dead_letter_source),
        "LockToken": _string(str(message.lock_token)),
        # DateTimeOffset.DateTime has no zone: the *Utc names carry none either.
        "ExpiresAtUtc": _json(_moment(expires) if expires else _NEVER),
        "ExpiresAt": _json((_moment(expires) if expires else _NEVER) + "+00:00"),
        "EnqueuedTimeUtc": _json(_moment(enqueued)) if enqueued else None,
        "EnqueuedTime": _json(_moment(enqueued) + "+00:00") if enqueued else None,
        "MessageId": _string(message.message_id),
        "ContentType": _string(message.content_type),
        "ReplyTo": _string(message.reply_to),
        "SequenceNumber": _json(message.sequence_number),
        "To": _string(message.to),
        "Subject": _string(message.subject),
        "Label": _string(message.subject),
        "CorrelationId": _string(message.correlation_id),
        "ApplicationProperties": properties,
        "UserProperties": properties,
        "SessionId": _string(message.session_id),
        "ReplyToSessionId": _string(message.reply_to_session_id),
        "PartitionKey": _string(message.partition_key),
    }
    return {name: value for name, value in values.items() if value is not None}


def _decoded(body: bytes) -> str:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    return body.decode("utf-8", "replace")


def _json(value: Any) -> TypedData:
    return TypedData(json=json.dumps(value, separators=(",", ":")))


def _string(value: str | bytes | None) -> TypedData | None:
    return None if value is None else TypedData(string=_text(value))


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _moment(value: datetime) -> str:
    """Newtonsoft's round-trip format without its zone: no trailing zeros in the fraction."""
    text = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text.rstrip("0").rstrip(".")


def _plain(value: Any) -> Any:
    """A JSON value for an application property. The SDK gives AMQP strings as bytes, so bytes are tried as text."""
    match value:
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return b64encode(value).decode()
        case datetime():
            return _moment(value) + "+00:00"
        case Mapping():
            return {_text(key): _plain(item) for key, item in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
