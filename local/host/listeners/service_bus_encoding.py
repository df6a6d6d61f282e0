"""A received Service Bus message as the Service Bus extension hands it to a language worker.

Sources: `ServiceBusTriggerBindingStrategy.cs` (names and types of the metadata) and `MessageToStringConverter.cs` (text
bodies) of Microsoft.Azure.WebJobs.Extensions.ServiceBus; the host sends numbers, dates and dictionaries as JSON.
"""

import codecs

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.amqp import AmqpMessageBodyType

from ..wire import TypedData
from .dotnet_json import UTC_OFFSET, json_data, moment, plain, string_data, text

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
        return TypedData(string=text(message.body))
    if message.body_type != AmqpMessageBodyType.DATA:
        raise UnsupportedBody(f"a message with a {message.body_type.value} body cannot be bound")
    body = b"".join(message.body)
    return TypedData(binary=body) if data_type.lower() == "binary" else TypedData(string=_decoded(body))


def trigger_metadata(message: ServiceBusReceivedMessage) -> dict[str, TypedData]:
    """The metadata by its .NET names; what the message does not have is left out, as the host leaves nulls out."""
    enqueued = message.enqueued_time_utc
    expires = message.expires_at_utc
    properties = json_data(plain(message.application_properties or {}))
    values: dict[str, TypedData | None] = {
        # .NET counts deliveries from 1, AMQP counts earlier failures from 0.
        "DeliveryCount": json_data((message.delivery_count or 0) + 1),
        "DeadLetterSource": string_data(message.dead_letter_source),
        "LockToken": string_data(str(message.lock_token)),
        # DateTimeOffset.DateTime has no zone: the *Utc names carry none either.
        "ExpiresAtUtc": json_data(moment(expires) if expires else _NEVER),
        "ExpiresAt": json_data((moment(expires) if expires else _NEVER) + UTC_OFFSET),
        "EnqueuedTimeUtc": json_data(moment(enqueued)) if enqueued else None,
        "EnqueuedTime": json_data(moment(enqueued) + UTC_OFFSET) if enqueued else None,
        "MessageId": string_data(message.message_id),
        "ContentType": string_data(message.content_type),
        "ReplyTo": string_data(message.reply_to),
        "SequenceNumber": json_data(message.sequence_number),
        "To": string_data(message.to),
        "Subject": string_data(message.subject),
        "Label": string_data(message.subject),
        "CorrelationId": string_data(message.correlation_id),
        "ApplicationProperties": properties,
        "UserProperties": properties,
        "SessionId": string_data(message.session_id),
        "ReplyToSessionId": string_data(message.reply_to_session_id),
        "PartitionKey": string_data(message.partition_key),
    }
    return {name: value for name, value in values.items() if value is not None}


def _decoded(body: bytes) -> str:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    return body.decode("utf-8", "replace")
