"""Hooks to log lines: a sentence for people, and fields for whoever searches. docs/telemetry.md lists the fields.

The fields are attributes of the log record: Application Insights shows them as `customDimensions`. Nothing of a
message's content is ever in them. Exceptions that travel on to the host appear by class alone: the host logs them in
full.
"""

import json
import logging
from collections.abc import Mapping

from ..idempotency import Delivery, DeliveryEnded, Event, Parked, Rejected, Retrying, SettlementFailed, StoreCall
from .ends import end_in
from .underway import Underway, underway

type Fields = Mapping[str, str | int | float | None]

_logger = logging.getLogger("idempotency")
_SDK_LOGGERS = ("azure.core", "azure.cosmos", "azure.data", "azure.identity", "azure.monitor", "azure.storage")


def quiet_sdks() -> None:
    """Keep the SDKs' own records of every request, headers and all, out of the log; warnings stay."""
    for name in _SDK_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def tell(event: Event) -> None:
    """A `Hook`."""
    level = _level(event)
    if _logger.isEnabledFor(level):
        invocation = underway()
        known = _of_invocation(invocation) if invocation else {}
        fields = {"event": type(event).__name__, **known, **_fields(event, invocation)}
        _logger.log(level, "%s", _sentence(event, fields), extra=_without_empty(fields))


def _level(event: Event) -> int:
    match event:
        case StoreCall():
            return logging.DEBUG  # one or more for each message: for looking closely
        case DeliveryEnded(error=BaseException()):
            return logging.ERROR
        case DeliveryEnded(outcome=Rejected()) | Retrying() | SettlementFailed() | Parked():
            return logging.WARNING
        case DeliveryEnded():
            return logging.INFO


def _sentence(event: Event, fields: Fields) -> str:
    """What a console shows: who, what, which message. Whatever a producer wrote is quoted, line breaks and all."""
    marks = ", ".join(f"{name} {fields[name]}" for name in ("key", "attempt") if fields.get(name))
    which = json.dumps(fields.get("messageId")) + (f" ({marks})" if marks else "")
    why = json.dumps(fields.get("description") or fields.get("error"))
    match event:
        case DeliveryEnded(outcome=Rejected()) | DeliveryEnded(error=BaseException()):
            return f"{event.consumer}: {fields['outcome']} {which}: {why}"
        case DeliveryEnded():
            return f"{event.consumer}: {fields['outcome']} {which}"
        case Retrying():
            return f"{event.consumer}: trying {which} again in {event.delay:.2f} s: {why}"
        case SettlementFailed():
            return f"{event.consumer}: {event.settlement} failed for {which}: {why}"
        case Parked():
            return f"{event.consumer}: parked {which}: {event.reason}"
        case StoreCall():
            charge = f"{event.request_charge:.2f} RU"
            return f"{event.operation} {event.container}: {event.status}, {charge}, {event.seconds:.4f} s"


def _fields(event: Event, invocation: Underway | None) -> Fields:
    """What the event itself knows."""
    match event:
        case DeliveryEnded():
            return {
                "consumer": event.consumer,
                **_of_delivery(event.delivery, event.key),
                "outcome": end_in(event).value,
                "seconds": round(event.seconds, 4),
                **_explanation(event),
            }
        case Retrying():
            return {
                "consumer": event.consumer,
                **_of_delivery(event.delivery, event.key),
                "cause": type(event.cause).__name__,
                "delay": round(event.delay, 4),
                "error": _told(event.cause),
            }
        case SettlementFailed():
            return {
                "consumer": event.consumer,
                "source": event.source,
                "messageId": event.message_id,
                "settlement": event.settlement,
                "error": _told(event.error),
            }
        case Parked():
            end = invocation.end_of(event.delivery) if invocation else None
            return {
                "consumer": event.consumer,
                **_of_delivery(event.delivery, end.key if end else None),
                "outcome": end_in(end).value if end else None,
                "reason": event.reason.value,
            }
        case StoreCall():
            return {
                "operation": event.operation,
                "container": event.container,
                "status": event.status,
                "requestCharge": event.request_charge,
                "seconds": round(event.seconds, 4),
            }


def _of_invocation(invocation: Underway) -> Fields:
    """What is true of every line of an invocation: all that is said of its delivery, where it has one alone."""
    delivery = invocation.only
    if delivery is None:
        return {"consumer": invocation.consumer}
    end = invocation.end_of(delivery)
    known = {"consumer": invocation.consumer, **_of_delivery(delivery, end.key if end else None)}
    return {**known, "outcome": end_in(end).value} if end else known


def _of_delivery(delivery: Delivery, key: str | None) -> Fields:
    return {
        "key": key,
        "messageId": delivery.message_id,
        "correlationId": delivery.correlation_id,
        "source": delivery.source,
        "attempt": delivery.attempt,
    }


def _explanation(event: DeliveryEnded) -> Fields:
    match event:
        case DeliveryEnded(error=BaseException() as error):
            return {"error": type(error).__name__}
        case DeliveryEnded(outcome=Rejected(reason=reason, description=description)):
            return {"reason": reason.value, "description": description}
    return {}


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _without_empty(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}
