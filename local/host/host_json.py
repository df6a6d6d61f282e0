"""The parts of host.json that this host honours, with production's defaults (Functions docs, "host.json reference")."""

import json
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from .errors import HostError
from .event_hubs_options import EventHubsOptions
from .timespan import timespan

# .NET's LogLevel names and the Python levels they filter on; None switches everything off.
_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "information": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "none": logging.CRITICAL + 1,
}


@dataclass(frozen=True, slots=True)
class ServiceBusOptions:
    """`extensions.serviceBus`, as the Service Bus extension 5.x reads it."""

    # Messages one function works on at a time, per host instance.
    max_concurrent_calls: int = 16
    # Messages fetched ahead; 0 means each receive asks for what it needs.
    prefetch_count: int = 0
    # Complete a message after a normal return; a binding's own value wins.
    auto_complete_messages: bool = True
    # How long the host keeps renewing the lock of one message.
    max_auto_lock_renewal: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class HostJson:
    """host.json of one app."""

    service_bus: ServiceBusOptions = ServiceBusOptions()
    event_hubs: EventHubsOptions = field(default_factory=EventHubsOptions)
    # `extensions.http.routePrefix`; the empty text means none.
    route_prefix: str = "api"
    # `logging.logLevel.default` as a Python level.
    log_level: int = logging.INFO

    @staticmethod
    def read(app_dir: Path) -> "HostJson":
        """Reads host.json of the app folder.

        Raises HostError when it is missing, no JSON, or not schema version 2.0.
        """
        file = app_dir / "host.json"
        try:
            content = json.loads(file.read_text(encoding="utf-8-sig"))
        except FileNotFoundError as error:
            raise HostError(f"no host.json in {app_dir}: this is not a Functions app folder") from error
        except ValueError as error:
            raise HostError(f"host.json is not JSON: {error}") from error
        if content.get("version") != "2.0":
            raise HostError('host.json must say "version": "2.0"')
        extensions = content.get("extensions", {})
        return HostJson(
            service_bus=_service_bus(extensions.get("serviceBus", {})),
            event_hubs=EventHubsOptions.read(extensions.get("eventHubs", {})),
            route_prefix=str(extensions.get("http", {}).get("routePrefix", "api")).strip("/"),
            log_level=log_level(content.get("logging", {}).get("logLevel", {}).get("default", "Information")),
        )


def log_level(name: str) -> int:
    """The Python level for one of .NET's level names, in any case.

    Raises HostError for a name .NET does not know.
    """
    try:
        return _LEVELS[name.lower()]
    except KeyError as error:
        raise HostError(f"{name!r} is no log level: use one of {', '.join(_LEVELS)}") from error


def _service_bus(section: dict[str, Any]) -> ServiceBusOptions:
    default = ServiceBusOptions()
    renewal = section.get("maxAutoLockRenewalDuration")
    options = ServiceBusOptions(
        max_concurrent_calls=int(section.get("maxConcurrentCalls", default.max_concurrent_calls)),
        prefetch_count=int(section.get("prefetchCount", default.prefetch_count)),
        auto_complete_messages=bool(section.get("autoCompleteMessages", default.auto_complete_messages)),
        max_auto_lock_renewal=default.max_auto_lock_renewal if renewal is None else timespan(renewal),
    )
    if options.max_concurrent_calls < 1:
        raise HostError("extensions.serviceBus.maxConcurrentCalls in host.json must be at least 1")
    return options
