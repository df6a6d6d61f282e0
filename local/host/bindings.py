"""The decorators of one function, read from the worker's `raw_bindings`."""

import json
from dataclasses import dataclass
from typing import Any

from . import wire
from .errors import HostError

# The only output this host can deliver: the response of an HTTP trigger.
_HTTP_RESPONSE = "http"


@dataclass(frozen=True, slots=True)
class TriggeredFunction:
    """One function with its one trigger."""

    # What the worker knows it by.
    function: wire.Function
    # `serviceBusTrigger`, `httpTrigger`, …
    trigger_type: str
    # Name of the parameter that receives the trigger's value.
    parameter: str
    # The trigger's own settings, such as `queueName`; texts still hold their `%SETTING%` references.
    trigger: dict[str, Any]

    @staticmethod
    def read(function: wire.Function) -> "TriggeredFunction":
        """Finds the trigger among the bindings.

        Raises HostError for what this host would have to ignore: other inputs and outputs, retry policies.
        """
        bindings = [json.loads(text) for text in function.raw_bindings]
        triggers = [binding for binding in bindings if binding["type"].endswith("Trigger")]
        if len(triggers) != 1:
            raise HostError(f"function {function.name} has {len(triggers)} triggers; a function has exactly one")
        trigger = triggers[0]
        for binding in bindings:
            if binding is not trigger and binding["type"] != _HTTP_RESPONSE:
                raise HostError(
                    f"function {function.name}: the local host has no {binding['type']} binding ({binding['name']})"
                )
            if binding.get("properties", {}).get("SupportsDeferredBinding"):
                raise HostError(
                    f"function {function.name}: the local host has no SDK-type parameters ({binding['name']})"
                )
        if function.has_retry_policy:
            raise HostError(f"function {function.name}: the local host does not apply retry policies")
        return TriggeredFunction(function, trigger["type"], trigger["name"], trigger)

    def text(self, name: str) -> str:
        """A trigger setting as text, empty when absent."""
        return str(self.trigger.get(name) or "")
