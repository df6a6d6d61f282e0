"""What a receiver can ask for as its beginning."""

import contextlib
from datetime import UTC, datetime

import pytest
from azure.eventhub._utils import event_position_selector
from hypothesis import given
from hypothesis import strategies as st

from local.broker import InvalidRequest
from local.event_hubs.selector import From, Latest, Mark, parse_selector


@pytest.mark.parametrize(
    ("selector", "start"),
    [
        ("amqp.annotation.x-opt-offset > '-1'", From(Mark.OFFSET, -1, inclusive=False)),
        ("amqp.annotation.x-opt-offset >= '4294967296'", From(Mark.OFFSET, 4294967296, inclusive=True)),
        ("amqp.annotation.x-opt-sequence-number > '7'", From(Mark.SEQUENCE_NUMBER, 7, inclusive=False)),
        ("amqp.annotation.x-opt-sequence-number >='0'", From(Mark.SEQUENCE_NUMBER, 0, inclusive=True)),
        ("amqp.annotation.x-opt-enqueued-time > '1'", From(Mark.ENQUEUED_TIME, 1, inclusive=False)),
        ("amqp.annotation.x-opt-offset > '@latest'", Latest()),
    ],
)
def test_selectors(selector: str, start: object) -> None:
    """The selectors of the service, as its protocol guide lists them."""
    assert parse_selector(selector) == start


@pytest.mark.parametrize("inclusive", [True, False])
def test_selectors_of_the_sdk(inclusive: bool) -> None:
    """What the SDK writes for an offset, a sequence number and a time means just that."""
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    for position, mark, value in (
        ("4294967296", Mark.OFFSET, 4294967296),
        (7, Mark.SEQUENCE_NUMBER, 7),
        (noon, Mark.ENQUEUED_TIME, int(noon.timestamp() * 1000)),
    ):
        selector = event_position_selector(position, inclusive).decode()
        assert parse_selector(selector) == From(mark, value, inclusive)


@pytest.mark.parametrize(
    "selector",
    [
        "",
        None,
        7,
        b"amqp.annotation.x-opt-offset > '1'",
        "x-opt-offset > '1'",
        "amqp.annotation.x-opt-offset < '1'",
        "amqp.annotation.x-opt-offset > 1",
        "amqp.annotation.x-opt-offset > ''",
        "amqp.annotation.x-opt-offset > '1:234:5'",
        "amqp.annotation.x-opt-offset > '1' OR 1",
        "amqp.annotation.x-opt-sequence-number > '@latest'",
        "amqp.annotation.x-opt-sequence-number > '1.5'",
        "amqp.annotation.x-opt-partition-key > '1'",
    ],
)
def test_what_is_no_selector(selector: object) -> None:
    """Anything else is refused, so that no receiver starts where it did not ask to."""
    with pytest.raises(InvalidRequest) as raised:
        parse_selector(selector)
    assert raised.value.condition == "com.microsoft:argument-error"


@given(st.text() | st.text().map(lambda value: f"amqp.annotation.x-opt-offset > '{value}'"))
def test_any_text(selector: str) -> None:
    """Whatever a client sends is a beginning or an error that it is told."""
    with contextlib.suppress(InvalidRequest):
        assert isinstance(parse_selector(selector), From | Latest)
