"""Which trigger types this host can listen to."""

from collections.abc import Callable, Iterable

from ..bindings import TriggeredFunction
from ..errors import HostError
from .base import Listener, Rewind, Surroundings
from .event_hubs import EventHubsListener
from .service_bus import ServiceBusListener

HTTP_TRIGGER = "httpTrigger"

# HTTP is not here: all HTTP functions share the host's one server, see `http.py`.
_LISTENERS: dict[str, Callable[[TriggeredFunction, Surroundings], Listener]] = {
    "eventHubTrigger": EventHubsListener,
    "serviceBusTrigger": ServiceBusListener,
}


def listener_for(function: TriggeredFunction, surroundings: Surroundings) -> Listener:
    """The listener for the function's trigger.

    Raises HostError naming function and trigger when there is none, or when its settings cannot work.
    """
    try:
        make = _LISTENERS[function.trigger_type]
    except KeyError as error:
        known = ", ".join(sorted([*_LISTENERS, HTTP_TRIGGER]))
        raise HostError(
            f"function {function.function.name}: the local host cannot listen to a {function.trigger_type} "
            f"(it can: {known})"
        ) from error
    return make(function, surroundings)


def rewinds(listeners: Iterable[Listener]) -> dict[str, Rewind]:
    """What can be sent back to an earlier event, by the function's name."""
    return {each.name: each.rewind for each in listeners if isinstance(each, EventHubsListener)}
