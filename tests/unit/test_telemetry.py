"""One structured line for each event, with what operators search for and nothing of the content."""

import json
import logging
from typing import Any

import pytest

from shared import telemetry
from shared.idempotency import (
    DeliveryEnded,
    Event,
    Outcome,
    Processed,
    Reason,
    Rejected,
    Retrying,
    SettlementFailed,
    StoreCall,
    TransientFailure,
)
from tests import examples


def ended(outcome: Outcome | None = None, error: Exception | None = None) -> DeliveryEnded:
    """The end of a delivery."""
    return DeliveryEnded(
        consumer="place_order",
        delivery=examples.delivery(b"secret body", attempt=2),
        key="abc",
        outcome=outcome,
        error=error,
        seconds=0.25,
    )


def line(event: Event, caplog: pytest.LogCaptureFixture) -> tuple[int, dict[str, Any]]:
    """The level and the fields of the one line that was logged."""
    with caplog.at_level(logging.DEBUG, logger="idempotency"):
        telemetry.log(event)
    [record] = caplog.records
    return record.levelno, json.loads(record.getMessage())


def test_a_processed_delivery_is_told_with_key_outcome_and_attempt(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever searches for a message finds what became of it."""
    level, fields = line(ended(Processed({"secret": "result"})), caplog)
    assert level == logging.INFO
    assert fields == {
        "event": "DeliveryEnded",
        "consumer": "place_order",
        "key": "abc",
        "messageId": "1001/placed",
        "source": "orders",
        "attempt": 2,
        "outcome": "Processed",
        "seconds": 0.25,
    }


def test_a_rejection_is_a_warning_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    """A person has to act on it."""
    level, fields = line(ended(Rejected(Reason.MALFORMED, "orderId: Field required")), caplog)
    assert level == logging.WARNING
    assert (fields["outcome"], fields["reason"]) == ("Rejected", "Malformed")
    assert fields["description"] == "orderId: Field required"


def test_an_exception_is_an_error_by_its_class(caplog: pytest.LogCaptureFixture) -> None:
    """Its text may quote the content; the host logs it where exceptions belong."""
    level, fields = line(ended(error=KeyError("secret")), caplog)
    assert level == logging.ERROR
    assert (fields["outcome"], fields["error"]) == (None, "KeyError")
    assert "secret" not in json.dumps(fields)


def test_what_is_waited_out_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """An outage shows while it lasts, with its cause."""
    event = Retrying(consumer="place_order", key="abc", cause=TransientFailure("503"), delay=0.5)
    level, fields = line(event, caplog)
    assert level == logging.WARNING
    assert (fields["cause"], fields["delay"]) == ("TransientFailure: 503", 0.5)


def test_a_failed_settlement_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is lost; the message comes again."""
    event = SettlementFailed(source="orders", message_id="1", settlement="complete", error=OSError("gone"))
    level, fields = line(event, caplog)
    assert level == logging.WARNING
    assert (fields["settlement"], fields["error"]) == ("complete", "OSError: gone")


def test_store_calls_are_for_looking_closely(caplog: pytest.LogCaptureFixture) -> None:
    """One or more for each message: below what is logged by default."""
    event = StoreCall(operation="commit", container="orders", status=200, request_charge=23.1, seconds=0.004)
    level, fields = line(event, caplog)
    assert level == logging.DEBUG
    assert (fields["operation"], fields["status"], fields["requestCharge"]) == ("commit", 200, 23.1)


@pytest.mark.parametrize(
    "name",
    ["azure.cosmos._cosmos_http_logging_policy", "azure.data.tables._policies", "azure.storage.blob._shared.policies"],
)
def test_sdks_do_not_log_each_request(name: str) -> None:
    """Two records with all headers for every request would bury everything else; their warnings stay."""
    telemetry.quiet_sdks()
    sdk = logging.getLogger(name)
    assert not sdk.isEnabledFor(logging.INFO)
    assert sdk.isEnabledFor(logging.WARNING)
