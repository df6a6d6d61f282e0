"""What a function's decorators may ask for."""

import json

import pytest

from local.host import wire
from local.host.bindings import TriggeredFunction
from local.host.errors import HostError


def function(*bindings: dict[str, object], retry: wire.RetryPolicy | None = None) -> wire.Function:
    return wire.Function("id", "place_order", tuple(json.dumps(binding) for binding in bindings), retry)


TRIGGER: dict[str, object] = {"type": "serviceBusTrigger", "name": "message", "queueName": "orders"}
EVENTS: dict[str, object] = {"type": "eventHubTrigger", "name": "events", "eventHubName": "stock"}
POLICY = wire.RetryPolicy("fixed_delay", max_retry_count=3, delay=1.0)


def test_the_trigger_is_found_among_the_bindings() -> None:
    """Type, parameter and settings of the trigger are what a listener needs."""
    read = TriggeredFunction.read(function(TRIGGER))
    assert (read.trigger_type, read.parameter) == ("serviceBusTrigger", "message")
    assert (read.text("queueName"), read.text("topicName")) == ("orders", "")


def test_an_event_hubs_trigger_may_have_a_retry_policy() -> None:
    """The host retries its invocations, as production does."""
    assert TriggeredFunction.read(function(EVENTS, retry=POLICY)).function.retry_policy == POLICY


@pytest.mark.parametrize(
    ("bindings", "retry", "words"),
    [
        ([], None, "0 triggers"),
        ([TRIGGER, {"type": "serviceBus", "name": "out"}], None, r"no serviceBus binding \(out\)"),
        ([TRIGGER | {"properties": {"SupportsDeferredBinding": True}}], None, "SDK-type"),
        ([TRIGGER], POLICY, "no retry policies for a serviceBusTrigger"),
        ([EVENTS], wire.RetryPolicy("sometimes", max_retry_count=3), "sometimes"),
        ([EVENTS], wire.RetryPolicy("fixed_delay", max_retry_count=-2), "make no sense"),
        ([EVENTS], wire.RetryPolicy("exponential_backoff", max_retry_count=3, minimum=2.0, maximum=1.0), "no sense"),
    ],
)
def test_what_would_have_to_be_ignored_is_refused(
    bindings: list[dict[str, object]], retry: wire.RetryPolicy | None, words: str
) -> None:
    """The error names the function."""
    with pytest.raises(HostError, match=f"place_order.*{words}"):
        TriggeredFunction.read(function(*bindings, retry=retry))
