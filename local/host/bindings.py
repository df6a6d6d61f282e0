"""The decorators of one function, read from the worker's `raw_bindings`."""

import json
from dataclasses import dataclass
from typing import Any

from . import wire
from .errors import HostError

# The only output this host can deliver: the response of an HTTP trigger.
_HTTP_RESPONSE = "http"
# Triggers whose invocations the host retries (Functions docs, "Error handling and retries"), as far as it has them.
_RETRIED_TRIGGERS = ("eventHubTrigger",)
_STRATEGIES = ("fixed_delay", "exponential_backoff")
# `max_retry_count` of a policy that never gives up; less makes no sense.
FOR_EVER = -1


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

        Raises HostError for what this host would have to ignore: other inputs and outputs, retry policies that the
        trigger does not have or that make no sense.
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
        _refuse_retry_policy(function, trigger["type"])
        return TriggeredFunction(function, trigger["type"], trigger["name"], trigger)

    def text(self, name: str) -> str:
        """A trigger setting as text, empty when absent."""
        return str(self.trigger.get(name) or "")


def _refuse_retry_policy(function: wire.Function, trigger_type: str) -> None:
    policy = function.retry_policy
    if policy is None:
        return
    if trigger_type not in _RETRIED_TRIGGERS:
        raise HostError(f"function {function.name}: the local host has no retry policies for a {trigger_type}")
    if policy.strategy not in _STRATEGIES:
        raise HostError(f"function {function.name}: {policy.strategy!r} is none of {', '.join(_STRATEGIES)}")
    if policy.max_retry_count < FOR_EVER or policy.minimum > policy.maximum:
        raise HostError(f"function {function.name}: the retry policy's numbers make no sense: {policy}")
