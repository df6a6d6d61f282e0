"""What senders put on the wire, well and badly: JSON in more than one spelling, and ids that are none."""

import json
from typing import Any

MOMENT = "2026-01-31T12:00:00Z"
"""When everything happened: the same seed has to give the same bytes."""

UNSTABLE_IDS = ("null", "None", "00000000-0000-0000-0000-000000000000")
"""What Python programs send when they have no id: JSON null as text, None as text, an empty GUID."""


def body(document: dict[str, Any]) -> bytes:
    """As most senders write JSON."""
    return json.dumps(document).encode()


def body_written_anew(document: dict[str, Any]) -> bytes:
    """The same content in other bytes, as a sender's later version may write it: other order, no blanks."""
    return json.dumps(dict(sorted(document.items(), reverse=True)), separators=(",", ":")).encode()


def body_cut_off(document: dict[str, Any]) -> bytes:
    """As it arrives from a sender that died while writing."""
    return body(document)[:-10]
