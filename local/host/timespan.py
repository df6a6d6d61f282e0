""".NET's TimeSpan, as host.json spells durations."""

import re
from datetime import timedelta

from .errors import HostError

_TIMESPAN = re.compile(r"(?:(\d+)\.)?(\d{1,2}):(\d{2}):(\d{2})")


def timespan(text: str) -> timedelta:
    """A .NET TimeSpan such as `00:05:00` or `1.00:00:00`.

    Raises HostError for anything else.
    """
    match = _TIMESPAN.fullmatch(text)
    if match is None:
        raise HostError(f"{text!r} is no time span: write it as hh:mm:ss")
    days, hours, minutes, seconds = (int(group or 0) for group in match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
