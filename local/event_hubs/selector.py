"""Where a receiver wants to start reading: the selector filter of its link.

Source: Microsoft, "AMQP 1.0 in Azure Service Bus and Event Hubs protocol guide".
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from local.broker import InvalidRequest

SELECTOR = re.compile(r"amqp\.annotation\.x-opt-(?P<mark>[a-z-]+)\s*(?P<operator>>=?)\s*'(?P<value>[^']*)'")
NUMBER = re.compile(r"-?[0-9]{1,19}")  # what a long can hold, and a little more
END_OF_PARTITION = "@latest"


class Mark(StrEnum):
    """What of an event a selector looks at."""

    OFFSET = "offset"
    SEQUENCE_NUMBER = "sequence-number"
    ENQUEUED_TIME = "enqueued-time"


@dataclass(frozen=True, slots=True)
class From:
    """Start at the first event whose mark is above a value."""

    mark: Mark  # what is compared
    value: int  # -1 is below every offset and sequence number; times are milliseconds since the epoch
    inclusive: bool  # an event with this very value is wanted too


@dataclass(frozen=True, slots=True)
class Latest:
    """Start with what comes after the receiver."""


type Start = From | Latest

BEGINNING = From(Mark.OFFSET, -1, inclusive=False)


def parse_selector(selector: object) -> Start:
    """What a selector says; raises InvalidRequest when the service has no such selector."""
    match = SELECTOR.fullmatch(selector.strip()) if isinstance(selector, str) else None
    if match is None or match["mark"] not in Mark:
        raise InvalidRequest(f"The selector {selector!r} is not one for an offset, sequence number or enqueued time.")
    mark, value = Mark(match["mark"]), match["value"]
    if mark is Mark.OFFSET and value == END_OF_PARTITION:
        return Latest()
    if not NUMBER.fullmatch(value):
        raise InvalidRequest(f"{value!r} is not a value for {mark} in a selector.")
    return From(mark, int(value), match["operator"] == ">=")
