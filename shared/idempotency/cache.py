"""Completed markers remembered in the process: a hot duplicate costs no store call and is compared all the same."""

from collections import OrderedDict
from datetime import datetime, timedelta

from .marker import Marker


class CompletedMarkers:
    """The most recently used completed markers, at most `capacity` of them. Only what is final is kept here."""

    def __init__(self, capacity: int, retention: timedelta) -> None:
        """`retention`: how long after its commit a marker counts, as in the store."""
        if capacity < 1:
            raise ValueError("A cache of completed markers holds at least one.")
        self._capacity = capacity
        self._retention = retention
        self._markers: OrderedDict[str, Marker] = OrderedDict()

    def recall(self, key: str, now: datetime) -> Marker | None:
        """The marker of a key digest, unless it is unknown or its retention window has closed."""
        marker = self._markers.get(key)
        if marker is None:
            return None
        if marker.processed_at + self._retention <= now:
            del self._markers[key]
            return None
        self._markers.move_to_end(key)
        return marker

    def remember(self, marker: Marker) -> None:
        """Keep a marker that is known to be committed; the least recently used one makes room."""
        self._markers[marker.key] = marker
        self._markers.move_to_end(marker.key)
        if len(self._markers) > self._capacity:
            self._markers.popitem(last=False)
