"""The sample domain: what it reads, what it refuses, what it writes down."""

import json
from decimal import Decimal
from typing import Any

import pytest

from shared.idempotency import Delivery, IdentityMismatch, Malformed, NoStableKey, UnitOfWork
from shared.retail.customers import RegisterCustomer, customer_id_of, register_customer
from shared.retail.orders import PlaceOrder, order_id_of, place_order
from shared.stores.memory import MemoryStore
from tests import examples


def work(partition: str = examples.ORDER_ID) -> UnitOfWork:
    return UnitOfWork(MemoryStore(partition_property="orderId"), partition)


def with_price(literal: str) -> bytes:
    """An order of one article whose price is written so."""
    line = f'{{"sku": "a", "quantity": 1, "unitPrice": {literal}}}'
    return examples.place_order_body(lines=[]).replace(b'"lines": []', f'"lines": [{line}]'.encode())


@pytest.mark.parametrize("literal", ["19.99", '"19.99"', "19.990", "0.0001", "12345678901.1234", '"12345678901.1234"'])
def test_prices_keep_every_digit(literal: str) -> None:
    """A price is what was written, as a number or as text; no float is involved."""
    order = PlaceOrder.read(with_price(literal))
    assert str(order.lines[0].unit_price) == literal.strip('"')


@pytest.mark.parametrize(
    "literal",
    [
        "0.10000000000000000555",  # a float would take it for 0.1
        "123456789012345.6",
        "0",
        "-1",
        "1e400",
        "NaN",
        '"NaN"',
        '"Infinity"',
        '"1_000"',
        '" 1"',
        '"١"',
        "true",
        "null",
        "[]",
    ],
)
def test_what_is_no_price_is_refused(literal: str) -> None:
    """Too many digits, no amount above nothing, or not a number at all."""
    with pytest.raises(Malformed):
        PlaceOrder.read(with_price(literal))


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ("orderId", {"orderId": "a/b"}),
        ("orderId", {"orderId": "marker-1"}),
        ("orderId", {"orderId": "1001\n"}),
        ("orderId", {"orderId": ""}),
        ("orderId", {"orderId": 1001}),
        ("orderId", {"orderId": "x" * 65}),
        ("customerId", {"customerId": None}),
        ("currency", {"currency": "eur"}),
        ("currency", {"currency": "EURO"}),
        ("lines", {"lines": []}),
        ("lines", {"lines": {}}),
        ("lines.0.quantity", {"lines": [{"sku": "a", "quantity": 0, "unitPrice": "1"}]}),
        ("lines.0.quantity", {"lines": [{"sku": "a", "quantity": 1.5, "unitPrice": "1"}]}),
        ("lines.0.quantity", {"lines": [{"sku": "a", "quantity": "1", "unitPrice": "1"}]}),
        ("lines.0.sku", {"lines": [{"sku": "", "quantity": 1, "unitPrice": "1"}]}),
        ("placedAt", {"placedAt": "2026-01-31T12:00:00"}),
        ("placedAt", {"placedAt": "yesterday"}),
        ("placedAt", {"placedAt": 1769860800}),
        ("coupon", {"coupon": "secret-code"}),
    ],
)
def test_a_malformed_order_names_the_place_and_quotes_nothing(place: str, changes: dict[str, Any]) -> None:
    """Whoever reads the dead-letter queue learns where to look, and nothing that the customer wrote."""
    body = json.dumps(examples.place_order_members() | changes).encode()
    with pytest.raises(Malformed) as refusal:
        PlaceOrder.read(body)
    assert refusal.value.description.startswith(f"{place}: ")
    for quoted in ("a/b", "marker-1", "EURO", "yesterday", "1769860800", "secret-code"):
        assert quoted not in refusal.value.description


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"\x1f\x8b\x08", b"{", b"[" * 100_000, b'{"orderId": "1", "orderId": "2"}', b'{"orderId": NaN}'],
)
def test_what_is_not_one_json_text_is_malformed(body: bytes) -> None:
    """No other exception: it would be taken for a programming error and delivered ten times."""
    with pytest.raises(Malformed, match="not one JSON text"):
        PlaceOrder.read(body)


def test_many_faults_are_told_in_few_words() -> None:
    """A description names ten faults and counts the others."""
    with pytest.raises(Malformed, match=r"and 260 more\Z"):
        PlaceOrder.read(examples.place_order_body(lines=[{}] * 90))


def test_an_order_of_too_many_lines_is_refused() -> None:
    """91 lines would come too close to what one batch can commit."""
    assert len(PlaceOrder.read(examples.place_order_body(lines=90)).lines) == 90
    with pytest.raises(Malformed, match=r"\Alines: "):
        PlaceOrder.read(examples.place_order_body(lines=91))


async def test_an_order_becomes_a_document_and_one_for_each_line() -> None:
    """All of them in the order's partition, money as text, and the total as the result."""
    order, staged = PlaceOrder.read(examples.place_order_body(lines=2)), work()
    result = await place_order(order, staged)
    assert result == {"orderId": "1001", "total": "59.97"}
    documents = {operation.id: operation.body for operation in staged.operations if hasattr(operation, "body")}
    assert list(documents) == ["1001", "1001-line-1", "1001-line-2"]
    assert documents["1001"]["type"] == "order"
    assert documents["1001"]["total"] == "59.97"
    assert documents["1001-line-2"]["total"] == "39.98"
    json.dumps(documents)


def test_the_largest_total_is_exact() -> None:
    """90 lines of the largest quantity at the largest price: still every digit."""
    line = {"sku": "a", "quantity": 1_000_000, "unitPrice": "99999999999.9999"}
    order = PlaceOrder.read(examples.place_order_body(lines=[line] * 90))
    assert order.total == Decimal("8999999999999991000.0000")


def test_an_order_is_read_from_its_delivery() -> None:
    """Message id and body agree."""
    assert PlaceOrder.from_delivery(examples.delivery()).order_id == "1001"


def test_an_order_whose_body_names_another_is_refused() -> None:
    """Its marker would lie in one partition and its documents belong to another."""
    with pytest.raises(IdentityMismatch):
        PlaceOrder.from_delivery(examples.delivery(examples.place_order_body("1002")))


@pytest.mark.parametrize(
    "message_id",
    [
        "1001",
        "1001/shipped",
        "/placed",
        "1001/placed/placed",
        "1001/placed ",
        "a b/placed",
        "marker-1/placed",
        "é/placed",
    ],
)
def test_a_message_id_that_names_no_order_is_refused(message_id: str) -> None:
    """The partition comes from the message id alone; what cannot name one is called something else than it is."""
    with pytest.raises(IdentityMismatch):
        order_id_of(examples.delivery(message_id=message_id))


@pytest.mark.parametrize("message_id", [None, ""])
def test_a_message_without_an_id_names_nothing(message_id: str | None) -> None:
    """Neither an order nor a customer."""
    for partition in (order_id_of, customer_id_of):
        with pytest.raises(NoStableKey):
            partition(examples.delivery(message_id=message_id))


def registration(body: bytes | None = None, message_id: str = examples.CUSTOMER_ID) -> Delivery:
    """The first delivery of a registration."""
    return examples.delivery(body or examples.register_customer_body(), message_id=message_id, source="customers")


async def test_a_registration_becomes_the_customers_document() -> None:
    """One document, under the customer's id."""
    staged = work(examples.CUSTOMER_ID)
    result = await register_customer(RegisterCustomer.from_delivery(registration()), staged)
    assert result == {"customerId": examples.CUSTOMER_ID}
    [created] = staged.operations
    assert created.id == examples.CUSTOMER_ID


def test_a_registration_for_somebody_else_is_refused() -> None:
    """Message id and body name two customers."""
    with pytest.raises(IdentityMismatch):
        RegisterCustomer.from_delivery(registration(message_id="customer-8"))


def test_a_message_id_that_is_no_customer_is_refused() -> None:
    """It becomes a document's id as it is."""
    with pytest.raises(IdentityMismatch):
        customer_id_of(registration(message_id="a/b"))


@pytest.mark.parametrize("email", ["", "ada", "ada@example", "ada@@example.org", "a da@example.org", "a@b.c\n", 7])
def test_what_is_no_address_is_refused(email: object) -> None:
    """Only its shape is looked at."""
    with pytest.raises(Malformed, match=r"\Aemail: "):
        RegisterCustomer.read(examples.register_customer_body(email=email))
