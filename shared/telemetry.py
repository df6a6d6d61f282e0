"""What happened, one structured log line an event.

Each line is a JSON object whose `event` is the name of the event; the fields are those of `shared.idempotency.hooks`,
without anything of a message's content. Exceptions that travel on to the host appear by class alone: the host logs
them in full.
"""

import json
import logging
from collections.abc import Mapping

from .idempotency import DeliveryEnded, Event, Rejected, Retrying, SettlementFailed, StoreCall

_logger = logging.getLogger("idempotency")
_SDK_LOGGERS = ("azure.core", "azure.cosmos", "azure.data", "azure.identity", "azure.storage")


def quiet_sdks() -> None:
    """Keep the SDKs' own records of every request, headers and all, out of the log; warnings stay."""
    for name in _SDK_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def log(event: Event) -> None:
    """A `Hook` that writes log lines."""
    level = _level(event)
    if _logger.isEnabledFor(level):
        _logger.log(level, "%s", json.dumps({"event": type(event).__name__, **_fields(event)}))


def _level(event: Event) -> int:
    match event:
        case StoreCall():
            return logging.DEBUG  # one or more for each message: for looking closely
        case Retrying() | SettlementFailed():
            return logging.WARNING
        case DeliveryEnded(error=BaseException()):
            return logging.ERROR
        case DeliveryEnded(outcome=Rejected()):
            return logging.WARNING
        case DeliveryEnded():
            return logging.INFO


def _fields(event: Event) -> Mapping[str, object]:
    match event:
        case DeliveryEnded():
            return {
                "consumer": event.consumer,
                "key": event.key,
                "messageId": event.delivery.message_id,
                "source": event.delivery.source,
                "attempt": event.delivery.attempt,
                "outcome": type(event.outcome).__name__ if event.outcome else None,
                "seconds": round(event.seconds, 4),
                **_explanation(event),
            }
        case Retrying():
            return {
                "consumer": event.consumer,
                "key": event.key,
                "cause": _told(event.cause),
                "delay": round(event.delay, 4),
            }
        case StoreCall():
            return {
                "operation": event.operation,
                "container": event.container,
                "status": event.status,
                "requestCharge": event.request_charge,
                "seconds": round(event.seconds, 4),
            }
        case SettlementFailed():
            return {
                "source": event.source,
                "messageId": event.message_id,
                "settlement": event.settlement,
                "error": _told(event.error),
            }


def _explanation(event: DeliveryEnded) -> Mapping[str, object]:
    match event:
        case DeliveryEnded(error=BaseException() as error):
            return {"error": type(error).__name__}
        case DeliveryEnded(outcome=Rejected(reason=reason, description=description)):
            return {"reason": reason, "description": description}
    return {}


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
