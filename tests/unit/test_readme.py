"""The example in the README works as it is printed."""

import re
import sys
import types
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from shared import wiring
from shared.idempotency import (
    Create,
    Delivery,
    Duplicate,
    IdempotentConsumer,
    InboxMarker,
    Processed,
    Reason,
    Rejected,
    RetentionWindow,
)
from shared.stores.memory import MemoryStore
from shared.telemetry import Telemetry
from shared.transports import service_bus
from shared.transports.service_bus import QueueConsumer
from shared.transports.settlement import Settlement

README = (Path(__file__).parents[2] / "README.md").read_text()
HANDLER, DECLARATION, TRIGGER = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
BODY = b'{"orderId": "1001", "amount": 10.10}'


@pytest.fixture
def payments(monkeypatch) -> Any:
    """The first block as the module it says it is."""
    module = types.ModuleType("shared.retail.payments")
    module.__package__ = "shared.retail"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(HANDLER, "README.md", "exec"), module.__dict__)  # noqa: S102 - that is the test
    return module


@pytest.fixture
async def store() -> MemoryStore:
    """A store that knows order 1001."""
    store = MemoryStore(partition_property="orderId")
    await store.commit("1001", [Create("1001", {"id": "1001", "orderId": "1001"})])
    return store


@pytest.fixture
def consumer(payments, store) -> IdempotentConsumer[Any]:
    """The second block, with the topology of a queue that is not there yet."""

    class Topology:
        def queue(self, name: str) -> "Topology":
            assert name == "payments"
            return self

        def retention(self) -> RetentionWindow:
            return RetentionWindow(60)

    names = {
        "QueueConsumer": QueueConsumer,
        "IdempotentConsumer": IdempotentConsumer,
        "InboxMarker": InboxMarker,
        "TOPOLOGY": Topology(),
        "telemetry": Telemetry.of_process(),
        "stores": {"orders": store},
    }
    declared = eval("{" + DECLARATION.split("\n", 1)[1] + "}", vars(payments) | names)  # noqa: S307 - that is the test
    assert declared["record_payment"].queue == "payments"
    return declared["record_payment"].consumer


def payment(message_id: str = "1001/payment-7", body: bytes = BODY) -> Delivery:
    return Delivery(source="payments", message_id=message_id, body=body)


async def test_a_payment_is_counted_once(consumer, store):
    """Two copies of one payment and another payment: two amounts, exact to the cent."""
    assert await consumer.consume(payment()) == Processed({"orderId": "1001", "paid": "10.10"})
    assert isinstance(await consumer.consume(payment()), Duplicate)
    await consumer.consume(payment("1001/payment-8"))
    assert (await store.read("1001", "1001")).body["paid"] == "20.20"


@pytest.mark.parametrize(
    ("delivery", "reason"),
    [
        (payment("7"), Reason.NO_STABLE_KEY),
        (payment(body=b"{}"), Reason.MALFORMED),
        (payment("1002/payment-7"), Reason.IDENTITY_MISMATCH),
        (payment("1002/payment-7", b'{"orderId": "1002", "amount": 1}'), Reason.REFUSED),
    ],
)
async def test_what_the_example_rejects(consumer, delivery, reason):
    """Each refusal that the example shows ends as it says."""
    outcome = await consumer.consume(delivery)
    assert isinstance(outcome, Rejected)
    assert outcome.reason is reason


def test_the_trigger_is_one_that_the_programming_model_takes():
    """The third block declares a function with its binding."""
    app = func.FunctionApp()
    names = {"app": app, "func": func, "service_bus": service_bus, "wiring": wiring, "Settlement": Settlement}
    exec(compile(TRIGGER, "README.md", "exec"), names)  # noqa: S102 - that is the test
    (function,) = app.get_functions()
    assert function.get_function_name() == "record_payment"
