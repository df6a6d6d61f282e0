"""Duplicate detection. Source: Microsoft, "Duplicate detection" (Azure Service Bus)."""

from datetime import timedelta

MILLISECOND = timedelta(milliseconds=1)


class DuplicateHistory:
    """The MessageIds accepted within the window. A duplicate does not renew the memory of the first."""

    def __init__(self, window: timedelta | None) -> None:
        """Without a window nothing is a duplicate."""
        self._window_ms = None if window is None else window // MILLISECOND
        self._accepted_at_ms: dict[str, int] = {}  # in the order of acceptance, so the oldest come first

    def is_duplicate(self, message_id: str, now_ms: int) -> bool:
        """Whether this id was accepted within the window; if not, it is from now on."""
        if self._window_ms is None:
            return False
        self._forget_before(now_ms - self._window_ms)
        if message_id in self._accepted_at_ms:
            return True
        self._accepted_at_ms[message_id] = now_ms
        return False

    def _forget_before(self, limit_ms: int) -> None:
        while self._accepted_at_ms:
            oldest = next(iter(self._accepted_at_ms))
            if self._accepted_at_ms[oldest] > limit_ms:
                return
            del self._accepted_at_ms[oldest]
