"""One structured line for each event, with what operators search for and nothing of the content."""

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shared import telemetry
from shared.idempotency import Duplicate, Event, Processed, Reason, Rejected
from tests import examples
from tests.listening import (
    KEY,
    NOON,
    Listener,
    ended,
    everything,
    parked,
    retrying,
    settlement_failed,
    store_call,
)

ROOT = Path(__file__).parents[2]
_ORDINARY = set(vars(logging.makeLogRecord({}))) | {"message"}
_WHO = {
    "consumer": "place_order",
    "key": KEY,
    "messageId": "1001/placed",
    "correlationId": "c-9",
    "source": "orders",
    "attempt": 2,
}


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """What becomes customDimensions."""
    return {name: value for name, value in vars(record).items() if name not in _ORDINARY}


def line(event: Event, caplog: pytest.LogCaptureFixture) -> tuple[int, dict[str, Any], str]:
    """Level, fields and text of the one line that was logged."""
    with caplog.at_level(logging.DEBUG, logger="idempotency"):
        Listener().telemetry.hook(event)
    [record] = caplog.records
    return record.levelno, fields(record), record.getMessage()


def test_a_processed_delivery_is_told_with_key_outcome_and_attempt(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever searches for a message finds what became of it, in the fields and on a console."""
    level, found, text = line(ended(Processed({"secret": "result"})), caplog)
    assert level == logging.INFO
    assert found == {"event": "DeliveryEnded", **_WHO, "outcome": "processed", "seconds": 0.25}
    assert text == f'place_order: processed "1001/placed" (key {KEY}, attempt 2)'


def test_a_rejection_is_a_warning_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    """A person has to act on it."""
    level, found, text = line(ended(Rejected(Reason.MALFORMED, "orderId: Field required")), caplog)
    assert level == logging.WARNING
    assert (found["outcome"], found["reason"]) == ("rejected", "Malformed")
    assert found["description"] == "orderId: Field required"
    assert text.endswith(': "orderId: Field required"')


def test_an_exception_is_an_error_by_its_class(caplog: pytest.LogCaptureFixture) -> None:
    """Its text may quote the content; the host logs it where exceptions belong."""
    level, found, text = line(ended(error=KeyError("secret")), caplog)
    assert level == logging.ERROR
    assert (found["outcome"], found["error"]) == ("failed", "KeyError")
    assert "secret" not in json.dumps(found) + text


def test_what_is_waited_out_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """An outage shows while it lasts, with its cause and who waits."""
    level, found, _ = line(retrying(), caplog)
    assert level == logging.WARNING
    why = {"cause": "TransientFailure", "delay": 0.5, "error": "TransientFailure: 503"}
    assert found == {"event": "Retrying", **_WHO, **why}


def test_a_failed_settlement_tells_of_the_delivery_it_was_for(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is lost; the message comes again, and can be recognised by its key."""
    listener = Listener()
    end = ended(Duplicate(None, NOON))
    with (
        caplog.at_level(logging.WARNING, logger="idempotency"),
        listener.telemetry.message("place_order", "orders", [end.delivery]),
    ):
        listener.telemetry.hook(end)
        listener.telemetry.hook(settlement_failed())
    [record] = caplog.records
    why = {"outcome": "duplicate", "settlement": "complete", "error": "OSError: gone"}
    assert fields(record) == {"event": "SettlementFailed", **_WHO, **why}


def test_a_parked_event_tells_which_of_its_batch_it_was(caplog: pytest.LogCaptureFixture) -> None:
    """Among many, with its own key."""
    listener = Listener()
    good, bad = (examples.delivery(message_id=id) for id in ("m-1", "m-2"))
    with (
        caplog.at_level(logging.WARNING, logger="idempotency.nothing"),
        listener.telemetry.batch("place_order", "orders", [good, bad]),
    ):
        listener.telemetry.hook(ended(Processed(None), delivery=good, key="k-1"))
        listener.telemetry.hook(ended(Rejected(Reason.MALFORMED, "why"), delivery=bad, key="k-2"))
        caplog.clear()
        listener.telemetry.hook(parked(bad))
    [record] = caplog.records
    found = fields(record)
    assert (found["messageId"], found["key"], found["outcome"]) == ("m-2", "k-2", "rejected")
    assert record.levelno == logging.WARNING


def test_store_calls_are_for_looking_closely(caplog: pytest.LogCaptureFixture) -> None:
    """One or more for each message: below what is logged by default; they tell whose they are."""
    listener = Listener()
    with (
        caplog.at_level(logging.DEBUG, logger="idempotency"),
        listener.telemetry.message("place_order", "orders", [examples.delivery()]),
    ):
        listener.telemetry.hook(store_call())
    [record] = caplog.records
    found = fields(record)
    assert record.levelno == logging.DEBUG
    assert (found["operation"], found["status"], found["requestCharge"]) == ("commit", 200, 23.1)
    assert (found["consumer"], found["messageId"]) == ("place_order", "1001/placed")


def test_nothing_of_the_content_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Neither the body, nor the handler's result, nor the text of its exception."""
    with caplog.at_level(logging.DEBUG, logger="idempotency"):
        for event in everything():
            Listener().telemetry.hook(event)
    assert len(caplog.records) == len(everything())
    assert not [record for record in caplog.records if "secret" in repr(vars(record))]


def test_an_id_with_a_line_break_does_not_write_a_line_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever sends messages must not be able to forge what the log says of others."""
    forged = "1\nplace_order: processed"
    _, found, text = line(ended(Processed(None), delivery=examples.delivery(message_id=forged)), caplog)
    assert "\n" not in text
    assert found["messageId"] == forged


_SDK_RECORDS = ("azure.cosmos._cosmos_http_logging_policy", "azure.monitor.opentelemetry.exporter.export._base")


def test_sdks_do_not_log_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two records with all headers for every request would bury everything else; their warnings stay."""
    monkeypatch.setattr(logging.getLogger(), "level", logging.INFO)  # as in the worker
    telemetry.quiet_sdks()
    for name in _SDK_RECORDS:
        sdk = logging.getLogger(name)
        assert sdk.isEnabledFor(logging.WARNING)
        assert sdk.getEffectiveLevel() == logging.WARNING


def test_sdks_are_quiet_as_soon_as_the_app_is_loaded() -> None:
    """An app that waits for its first message would otherwise send logs of having sent logs, for ever."""
    program = f"""
import logging
logging.basicConfig(level=logging.INFO)
import function_app
print([logging.getLogger(name).isEnabledFor(logging.INFO) for name in {_SDK_RECORDS}])
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)  # noqa: S603
    assert ran.stdout == "[False, False]\n", ran.stderr
