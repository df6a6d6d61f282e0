"""Orders and customers from queue to database: processed once, duplicates absorbed, bad messages kept for a person."""

import asyncio
from datetime import timedelta

import pytest
from azure.servicebus import ServiceBusMessage

from tests.examples import place_order_body, register_customer_body

from .desk import WINDOW_SECONDS, Desk

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def orders_of(desk: Desk, order_id: str) -> tuple[int, int, int]:
    """How many order, line and marker documents an order has."""
    found = await desk.documents("orders", order_id)
    return tuple(len(found.get(kind, [])) for kind in ("order", "order-line", "marker"))


async def test_a_new_order_is_written_in_one_round_trip(desk):
    """Order, lines and marker are there after a single request to the database, and the broker is empty."""
    await desk.send("orders", place_order_body("A1", lines=3), "A1/placed")
    await desk.until_empty()
    assert await desk.requests("orders", "A1") == ["Batch"]
    found = await desk.documents("orders", "A1")
    assert found["order"][0]["total"] == "119.94"
    assert [len(found[kind]) for kind in ("order", "order-line", "marker")] == [1, 3, 1]
    assert found["marker"][0]["marker"]["result"] == {"orderId": "A1", "total": "119.94"}
    assert found["marker"][0]["ttl"] == timedelta(days=7 + 14 + 7).total_seconds()
    assert "ttl" not in found["order"][0]


async def test_a_copy_inside_the_detection_window_never_reaches_us(desk):
    """The broker drops it: one delivery, one order."""
    before = (await desk.stack.service_bus.statistics())["orders"]
    for _ in range(2):
        await desk.send("orders", place_order_body("A2"), "A2/placed")
    await desk.until_empty()
    after = (await desk.stack.service_bus.statistics())["orders"]
    assert after.dropped_as_duplicate - before.dropped_as_duplicate == 1
    assert after.deliveries - before.deliveries == 1
    assert await orders_of(desk, "A2") == (1, 2, 1)


async def test_a_copy_outside_the_window_is_absorbed_by_the_marker(desk):
    """It is delivered, completed, and changes nothing, also for a worker that never saw the first."""
    await desk.send("orders", place_order_body("A3"), "A3/placed")
    await desk.until_empty()
    killed = await desk.kill_worker()
    await desk.host.wait_running(after=killed)
    await desk.resend("orders", place_order_body("A3"), "A3/placed")
    await desk.until_empty()
    assert await orders_of(desk, "A3") == (1, 2, 1)
    assert await desk.dead_letters("orders", "A3/placed") == []


async def test_many_copies_at_once_have_one_effect(desk):
    """Copies that run at the same time in one worker: one order."""
    await desk.stack.cosmos.fault(operation="Batch", partition_key="A4", hold=True, when="before", times=1)
    await desk.send("orders", place_order_body("A4"), "A4/placed")
    await desk.until_held()
    for _ in range(3):
        await desk.stack.service_bus.advance_clock(WINDOW_SECONDS)
        await desk.send("orders", place_order_body("A4"), "A4/placed")
    await desk.stack.cosmos.release()
    await desk.until_empty()
    assert await orders_of(desk, "A4") == (1, 2, 1)


async def test_a_reused_id_is_dead_lettered_with_both_prints(desk):
    """Same id, other content: the first order stands, the second is kept for a person, without its body in the text."""
    await desk.send("orders", place_order_body("A5"), "A5/placed")
    await desk.until_empty()
    await desk.resend("orders", place_order_body("A5", lines=4), "A5/placed")
    await desk.until_empty()
    (letter,) = await desk.dead_letters("orders", "A5/placed")
    assert letter.dead_letter_reason == "FingerprintMismatch"
    assert letter.dead_letter_error_description.count("json.v1:") == 2
    assert "sku" not in letter.dead_letter_error_description
    assert await orders_of(desk, "A5") == (1, 2, 1)


@pytest.mark.parametrize(
    ("body", "message_id", "reason"),
    [
        (b'{"orderId": "B1"', "B1/placed", "Malformed"),
        (b"\x1f\x8b\x08", "B2/placed", "Malformed"),
        (place_order_body("B3", lines=[]), "B3/placed", "Malformed"),
        (place_order_body("other"), "B4/placed", "IdentityMismatch"),
        (place_order_body("B5"), "B5", "IdentityMismatch"),
        (place_order_body("B6"), "00000000-0000-0000-0000-000000000000", "NoStableKey"),
        (place_order_body("B7"), "null", "NoStableKey"),
    ],
)
async def test_a_message_that_can_never_succeed_is_dead_lettered_at_once(desk, body, message_id, reason):
    """One delivery, a reason from the closed list, a description for a person, the body untouched, nothing written."""
    await desk.send("orders", body, message_id)
    await desk.until_empty()
    (letter,) = await desk.dead_letters("orders", message_id)
    assert letter.dead_letter_reason == reason
    assert letter.dead_letter_error_description
    assert b"".join(letter.body) == body
    assert letter.delivery_count == 0
    assert await desk.documents("orders", message_id.partition("/")[0]) == {}


async def test_a_customer_is_its_own_marker(desk):
    """One document, one create; a copy is a duplicate, other content under the same id is a mismatch."""
    await desk.send("customers", register_customer_body("C1"), "C1")
    await desk.until_empty()
    await desk.resend("customers", register_customer_body("C1"), "C1")
    await desk.resend("customers", register_customer_body("C1", name="Grace Hopper"), "C1")
    await desk.until_empty()
    found = await desk.documents("customers", "C1")
    assert [customer["name"] for customer in found.pop("customer")] == ["Ada Lovelace"]
    assert found == {}
    assert [letter.dead_letter_reason for letter in await desk.dead_letters("customers", "C1")] == [
        "FingerprintMismatch"
    ]


async def test_a_burst_of_orders_and_copies_is_processed_once_each(desk):
    """Sixty orders, each sent three times outside the window, all in flight together."""
    ids = [f"D{n}" for n in range(60)]
    for _ in range(3):
        await desk.stack.service_bus.advance_clock(WINDOW_SECONDS)
        bodies = {f"{id}/placed": place_order_body(id) for id in ids}
        await desk.senders["orders"].send_messages([ServiceBusMessage(b, message_id=m) for m, b in bodies.items()])
    await desk.until_empty()
    counts = await asyncio.gather(*(orders_of(desk, id) for id in ids))
    assert counts == [(1, 2, 1)] * len(ids)
