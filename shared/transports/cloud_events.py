"""CloudEvents recognised by their shape, whatever the content type says: structured, batched, binary.

Sources: CloudEvents 1.0.2, "JSON Event Format" (structured and batched) and "AMQP Protocol Binding" (binary, where
attributes are application properties). An event is identified by `source` and `id` together.

azure-core has a `CloudEvent`, but it invents an id where there is none, which would make every redelivery a new
message, and it parses `data` through floats. So the shape is checked here and `data` keeps its exact text.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..idempotency import Delivery
from .json_slices import Members, objects_in

_REQUIRED = frozenset({"specversion", "id", "source", "type"})
_PREFIXES = ("cloudevents:", "cloudevents_", "ce-", "ce_")
"""How producers spell the prefix: AMQP, JMS-safe, and two that bridges carry over from HTTP and Kafka."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudEvent:
    """One event: what identifies it and what it carries."""

    source: str | None
    """Where the id is unique; None when the attribute has no usable value."""
    id: str | None
    """The producer's id; None when the attribute has no usable value."""
    type: str | None
    """What happened."""
    data_content_type: str | None
    """Media type of the data, where the producer declares it."""
    data: bytes = field(repr=False)
    """The payload, byte for byte as the producer wrote it."""


def deliveries_in(carrier: Delivery) -> tuple[Delivery, ...]:
    """What a message brings: itself, or the CloudEvents in it, one delivery each, in their order.

    An event is identified by its source and id, whatever message carries it. One that lacks either is delivered without
    a message id, which is no stable key.
    """
    events = events_in(carrier.body, carrier.properties, carrier.content_type)
    if not events:
        return (carrier,)
    return tuple(
        replace(
            carrier,
            source=event.source or carrier.source,
            message_id=event.id if event.source else None,
            body=event.data,
            content_type=event.data_content_type,
            subject=event.type,
        )
        for event in events
    )


def events_in(body: bytes, properties: Mapping[str, object], content_type: str | None) -> tuple[CloudEvent, ...]:
    """The events a message carries: one, or several where it is a batch; none when it is not a CloudEvent.

    What lacks the shape (a required attribute is absent, a name is repeated, data is given twice or not decodable) is
    no CloudEvent, and whoever reads it judges it as the plain message that it also is.
    The structured form is looked for first: a producer may repeat its attributes as properties, and then the body is
    the event and not the data.
    """
    return _structured(body) or _binary(body, properties, content_type)


def _structured(body: bytes) -> tuple[CloudEvent, ...]:
    if b"specversion" not in body:  # spares the others a parse
        return ()
    try:
        return tuple(_event(members) for members in objects_in(body.decode()))
    except (ValueError, KeyError, RecursionError):  # not JSON, not an object, not the shape
        return ()


def _binary(body: bytes, properties: Mapping[str, object], content_type: str | None) -> tuple[CloudEvent, ...]:
    attributes: dict[str, object] = {}
    for name, value in properties.items():
        folded = name.casefold()
        prefix = next((prefix for prefix in _PREFIXES if folded.startswith(prefix)), None)
        if prefix is None:
            continue
        attribute = folded.removeprefix(prefix)
        # Given under two spellings with two values, an attribute says nothing.
        attributes[attribute] = value if attributes.get(attribute, value) == value else None
    if not attributes.keys() >= _REQUIRED:
        return ()
    # In binary mode the message's own content type is the data's (AMQP Protocol Binding, "Binary Content Mode").
    return (_of({**attributes, "datacontenttype": content_type}, data=body),)


def _event(members: Members) -> CloudEvent:
    if not members.values.keys() >= _REQUIRED:
        raise ValueError("a required attribute is absent")
    match "data" in members.texts, "data_base64" in members.texts:
        case True, True:
            raise ValueError("data is given twice")
        case True, False:
            data = members.texts["data"].encode()
        case False, True:
            data = base64.b64decode(_text(members.values["data_base64"]) or "", validate=True)
        case _:
            data = b""
    return _of(members.values, data=data)


def _of(attributes: Mapping[str, object], *, data: bytes) -> CloudEvent:
    return CloudEvent(
        source=_text(attributes["source"]),
        id=_text(attributes["id"]),
        type=_text(attributes["type"]),
        data_content_type=_text(attributes.get("datacontenttype")),
        data=data,
    )


def _text(value: object) -> str | None:
    """Attributes that identify are non-empty strings (CloudEvents 1.0.2, "Required Attributes")."""
    return value if isinstance(value, str) and value else None
