"""What a function's decorators may ask for."""

import json

import pytest

from local.host import wire
from local.host.bindings import TriggeredFunction
from local.host.errors import HostError


def function(*bindings: dict[str, object], retry: bool = False) -> wire.Function:
    return wire.Function("id", "place_order", tuple(json.dumps(binding) for binding in bindings), retry)


TRIGGER: dict[str, object] = {"type": "serviceBusTrigger", "name": "message", "queueName": "orders"}


def test_the_trigger_is_found_among_the_bindings() -> None:
    """Type, parameter and settings of the trigger are what a listener needs."""
    read = TriggeredFunction.read(function(TRIGGER))
    assert (read.trigger_type, read.parameter) == ("serviceBusTrigger", "message")
    assert (read.text("queueName"), read.text("topicName")) == ("orders", "")


@pytest.mark.parametrize(
    ("bindings", "retry", "words"),
    [
        ([], False, "0 triggers"),
        ([TRIGGER, {"type": "serviceBus", "name": "out"}], False, r"no serviceBus binding \(out\)"),
        ([TRIGGER | {"properties": {"SupportsDeferredBinding": True}}], False, "SDK-type"),
        ([TRIGGER], True, "retry"),
    ],
)
def test_what_would_have_to_be_ignored_is_refused(bindings: list[dict[str, object]], retry: bool, words: str) -> None:
    """The error names the function."""
    with pytest.raises(HostError, match=f"place_order.*{words}"):
        TriggeredFunction.read(function(*bindings, retry=retry))
