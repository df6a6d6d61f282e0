"""The query language on its own: what expressions give, and random documents against plain Python."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cosmos import sql
from local.cosmos.errors import CosmosError

DOCUMENT = {
    "id": "a",
    "n": 3,
    "half": 1.5,
    "name": "Ann O'Hara",
    "none": None,
    "yes": True,
    "tags": ["x", "y"],
    "lines": [{"sku": "p", "quantity": 2}, {"sku": "q", "quantity": 5}],
    "address": {"zip code": "12", "city": "Rome"},
}
scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 2.0]) | st.text("ab", max_size=2)


def value_of(expression: str, *parameters: object) -> Any:
    """What an expression gives for the document; "nothing" where it is undefined."""
    given_ = [{"name": f"@{n}", "value": value} for n, value in enumerate(parameters)]
    query = " ".join(["SELECT VALUE", expression, "FROM c"])
    results = sql.parse({"query": query, "parameters": given_}).run([DOCUMENT])
    return results[0] if results else "nothing"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("c.address.city", "Rome"),
        ('c.address["zip code"]', "12"),
        ("c.lines[1].sku", "q"),
        ("c.missing.deeper", "nothing"),
        ("c.n + 1 * 2", 5),
        ("(c.n + 1) / 2", 2),
        ("-c.n % 2", -1 % 2),
        ("c.n / 0", "nothing"),
        ("c.name || '!'", "Ann O'Hara!"),
        ("c.name = 'Ann O\\'Hara'", True),
        ('c.name != "x"', True),
        ("c.n > 'a'", "nothing"),
        ("c.n = '3'", False),
        ("c.missing = 1", "nothing"),
        ("c.yes AND c.n = 3", True),
        ("c.missing AND false", False),
        ("c.missing OR true", True),
        ("NOT c.missing", "nothing"),
        ("NOT (c.n IN (1, 2))", True),
        ("c.n NOT IN (1, 2)", True),
        ("c.n BETWEEN 3 AND 4 AND c.yes", True),
        ("c.name LIKE 'A%a'", True),
        ("IS_DEFINED(c.none) AND NOT IS_DEFINED(c.missing)", True),
        ("IS_NULL(c.none)", True),
        ("STARTSWITH(c.name, 'ann', true)", True),
        ("CONTAINS(c.name, 'Hara')", True),
        ("ENDSWITH(c.n, 'x')", "nothing"),
        ("ARRAY_CONTAINS(c.tags, 'y')", True),
        ("ARRAY_CONTAINS(c.lines, {'sku': 'q'}, true)", True),
        ("ARRAY_CONTAINS(c.lines, {'sku': 'q'})", False),
        ("ARRAY_LENGTH(c.tags) + LENGTH(c.id)", 3),
        ("SUBSTRING(UPPER(c.name), 0, 3)", "ANN"),
        ("c.n > 2 ? 'many' : 'few'", "many"),
        ("c.missing ?? 'default'", "default"),
        ("[c.n, c.missing, {'k': c.half}]", [3, {"k": 1.5}]),
        ("@0.a[1]", 8),
    ],
)
def test_expressions(expression: str, expected: object) -> None:
    """One expression, one value; undefined gives no result at all."""
    result = value_of(expression, {"a": [7, 8]})
    assert result == expected
    assert type(result) is type(expected)


def test_joins_repeat_the_document() -> None:
    """Each element of the joined array gives a row."""
    query = "SELECT c.id, l.sku, t FROM c JOIN l IN c.lines JOIN t IN c.tags WHERE l.quantity > 2"
    rows = sql.parse({"query": query}).run([DOCUMENT])
    assert rows == [{"id": "a", "sku": "q", "t": "x"}, {"id": "a", "sku": "q", "t": "y"}]


def test_from_an_array() -> None:
    """FROM … IN iterates over the elements."""
    assert sql.parse({"query": "SELECT VALUE l.sku FROM l IN c.lines"}).run([DOCUMENT]) == ["p", "q"]


def test_implicit_names() -> None:
    """Columns are named by alias, by their last step, or $1, $2, …"""
    query = "SELECT c.n, c.half AS h, c.n + 1, c['name'], 1 FROM c"
    assert list(sql.parse({"query": query}).run([DOCUMENT])[0]) == ["n", "h", "$1", "name", "$2"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT c.a, c.b FROM c GROUP BY c.a",
        "SELECT c.a, COUNT(1) FROM c",
        "SELECT * FROM c GROUP BY c.a",
        "SELECT c.a, COUNT(1) FROM c GROUP BY c.a ORDER BY c.a",
        "SELECT * FROM c JOIN t IN c.tags",
        "SELECT VALUE c.a, c.b FROM c",
        "SELECT TOP -1 c.a FROM c",
    ],
)
def test_statements_that_the_service_refuses(query: str) -> None:
    """Clauses that do not fit together are 400."""
    with pytest.raises(CosmosError) as refusal:
        sql.parse({"query": query})
    assert refusal.value.status == 400


DEEP = 5000


@pytest.mark.parametrize(
    "expression",
    ["'unclosed", "1 +", "c.n c d", "(" * DEEP + "1" + ")" * DEEP, "NOT " * DEEP + "true", "1" + "+1" * DEEP],
)
def test_faulty_expressions_are_400(expression: str) -> None:
    """Nonsense, and what is nested beyond all measure, is a refusal and no crash."""
    with pytest.raises(CosmosError) as refusal:
        value_of(expression)
    assert refusal.value.status == 400


@given(st.lists(scalars | st.just("absent")), st.integers(0, 4), st.integers(0, 4))
def test_order_and_window_are_a_slice_of_the_order(values: list[Any], offset: int, limit: int) -> None:
    """OFFSET and LIMIT cut the ordered results, and DESC of numbers is ASC backwards."""
    documents = [{"id": str(n), "v": value} for n, value in enumerate(values)]
    ordered = "SELECT VALUE c.v FROM c ORDER BY c.v"
    whole = sql.parse({"query": ordered}).run(documents)
    cut = [{"name": "@offset", "value": offset}, {"name": "@limit", "value": limit}]
    window = sql.parse({"query": ordered + " OFFSET @offset LIMIT @limit", "parameters": cut}).run(documents)
    assert len(whole) == len(values)
    assert window == whole[offset : offset + limit]
    numbers = [value for value in whole if type(value) in (int, float)]
    assert numbers == sorted(numbers)


@given(scalars, scalars)
def test_comparisons_agree_with_each_other(left: Any, right: Any) -> None:
    """Exactly one of <, =, > holds for two values of one comparable type; none of < and > otherwise."""
    query = "SELECT VALUE [@0 < @1, @0 = @1, @0 > @1, @0 <= @1, @0 >= @1, @0 != @1] FROM c"
    parameters = [{"name": "@0", "value": left}, {"name": "@1", "value": right}]
    verdicts = sql.parse({"query": query, "parameters": parameters}).run([{}])[0]
    if len(verdicts) == 2:  # only = and != are defined for values that have no order
        same, other = verdicts
        assert other is not same
        return
    less, same, more, at_most, at_least, other = verdicts
    assert [less, same, more].count(True) == 1
    assert (at_most, at_least, other) == (less or same, more or same, not same)
