"""Telemetry that fails is left out, and nothing else happens."""

import logging
from collections.abc import Callable
from contextlib import suppress

_logger = logging.getLogger("idempotency.telemetry")


def harmless[T](tell: Callable[[], T]) -> T | None:
    """What the call returns; None when it failed, which is logged if that is possible."""
    try:
        return tell()
    except Exception:
        with suppress(Exception):  # it may be logging that fails
            _logger.exception("Telemetry failed; the delivery goes on without.")
        return None
