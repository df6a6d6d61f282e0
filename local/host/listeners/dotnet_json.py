"""Values of a received AMQP message as the host sends them to a language worker: strings, and Newtonsoft's JSON."""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..wire import TypedData

# What DateTimeOffset adds to a DateTime of kind Unspecified, for times in UTC.
UTC_OFFSET = "+00:00"


def json_data(value: Any) -> TypedData:
    """Numbers, dates, dictionaries and arrays travel as JSON text."""
    return TypedData(json=json.dumps(value, separators=(",", ":")))


def text(value: str | bytes) -> str:
    """The SDKs give AMQP strings as bytes in some places and as text in others."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def string_data(value: str | bytes | None) -> TypedData | None:
    """A string, or None for what the host leaves out."""
    return None if value is None else TypedData(string=text(value))


def moment(value: datetime) -> str:
    """Newtonsoft's round-trip format without its zone: no trailing zeros in the fraction."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f").rstrip("0").rstrip(".")


def plain(value: Any) -> Any:
    """A JSON value for a property. The SDKs give AMQP strings as bytes, so bytes are tried as text."""
    match value:
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return b64encode(value).decode()
        case datetime():
            return moment(value) + UTC_OFFSET
        case Mapping():
            return {text(key): plain(item) for key, item in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
