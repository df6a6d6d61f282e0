"""Equal meaning, equal print; any other meaning, another print."""

import json
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.idempotency import Fingerprint, Form


def of(text: str | bytes) -> Fingerprint:
    return Fingerprint.of(text.encode() if isinstance(text, str) else text)


numbers = st.one_of(
    st.integers(min_value=-(10**60), max_value=10**60).map(Decimal),
    st.decimals(allow_nan=False, allow_infinity=False, places=None, min_value=-(10**40), max_value=10**40),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=15,
)


def written(value: object, draw) -> str:
    """One of the many JSON texts of a value: members in any order, white space anywhere, numbers spelled freely."""
    space = draw(st.sampled_from(["", " ", "\n\t"]))
    match value:
        case Decimal():
            return draw(st.sampled_from(spellings(value)))
        case dict():
            members = draw(st.permutations(list(value.items())))
            inner = ",".join(f"{space}{written(k, draw)}:{space}{written(v, draw)}" for k, v in members)
            return "{" + inner + space + "}"
        case list():
            return "[" + ",".join(space + written(item, draw) for item in value) + space + "]"
        case _:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))


def spellings(number: Decimal) -> list[str]:
    """JSON spellings of one exact number."""
    sign, digits, exponent = number.as_tuple()
    minus, figures = "-" if sign else "", "".join(map(str, digits))
    plain = f"{number:f}"
    bare = figures.lstrip("0")
    shifted = f"{minus}{bare}00E{int(exponent) - 2}" if bare else f"{minus}0E-7"
    longer = plain + ("0" if "." in plain else ".0")
    return [plain, shifted, longer, shifted.replace("E-", "e-")]


def exact(value: object) -> object:
    """A value in which equality is JSON's: true is not 1, members have no order, -0 is 0."""
    match value:
        case bool() | None:
            return (type(value).__name__, value)
        case Decimal():
            sign, digits, exponent = value.as_tuple()
            figures = "".join(map(str, digits)).lstrip("0")
            bare = figures.rstrip("0")
            return ("number", sign if bare else 0, bare, int(exponent) + len(figures) - len(bare) if bare else 0)
        case dict():
            return ("object", frozenset((name, exact(item)) for name, item in value.items()))
        case list():
            return ("array", tuple(exact(item) for item in value))
        case _:
            return ("string", value)


@given(st.data(), values)
def test_every_spelling_of_a_value_has_one_print(data, value):
    """Order of members, white space, escapes and spelling of numbers make no difference."""
    one, other = of(written(value, data.draw)), of(written(value, data.draw))
    assert one == other
    assert one.form is Form.JSON


@given(st.data(), values, values)
def test_prints_are_equal_exactly_when_values_are(data, a, b):
    """Two values share a print if and only if they are the same JSON value."""
    assert (of(written(a, data.draw)) == of(written(b, data.draw))) is (exact(a) == exact(b))


@given(st.data(), numbers, st.integers(min_value=-45, max_value=45))
def test_the_smallest_difference_in_a_number_shows(data, number, place):
    """Adding one unit at any decimal place changes the print, far beyond what a float could tell apart."""
    from decimal import localcontext

    with localcontext(prec=200):
        other = number + Decimal(1).scaleb(place)
        assume(other != number)
    assert of(written(number, data.draw)) != of(written(other, data.draw))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10", "10.0"),
        ("10", "1e1"),
        ("-0", "0"),
        ("0.0e5", "0"),
        ('{"a":1,"b":2}', ' { "b" : 2.00, "a" : 1 } '),
        ('"\\u00e9"', '"é"'),
    ],
)
def test_equal_values_are_equal(one, other):
    """Named examples of spellings that mean the same."""
    assert of(one) == of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12345678901234567890.123456789012345", "12345678901234567890.123456789012346"),
        ("9007199254740993", "9007199254740992"),
        ("1", "true"),
        ("1", '"1"'),
        ("null", '"null"'),
        ("[]", "{}"),
        ("[[],[]]", "[[[]]]"),
        ('["a,b"]', '["a","b"]'),
        ('"é"', '"e\u0301"'),
        ("1e400", "1e401"),
        ("0", ""),
    ],
)
def test_different_values_differ(one, other):
    """Named examples of values that look alike and are not the same."""
    assert of(one) != of(other)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x1f\x8b\x08\x00gzip",
        b'{"a":"\\ud800"}',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"[" * 65 + b"1" + b"]" * 65,
        b'{"a":1,"a":2}',
        b'{"a":1,"\\u0061":1}',
        b"NaN",
        b"[Infinity]",
        b"not json",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe",
        b"1e" + b"9" * 5000,
    ],
)
def test_what_has_no_exact_form_is_hashed_raw(body):
    """Nothing raises: bodies that are not JSON, or are ambiguous JSON, fall back to their bytes."""
    assert Fingerprint.of(body).form is Form.RAW
    assert Fingerprint.of(body) == Fingerprint.of(body)
    assert Fingerprint.of(body) != Fingerprint.of(body + b" ")


def test_huge_numbers_stay_exact():
    """Numbers with more digits than Python's own integer parser accepts are still numbers."""
    assert of("1" * 10_000).form is Form.JSON
    assert of("1" * 10_000) != of("1" * 9_999 + "2")


@given(st.binary(max_size=40))
def test_a_print_survives_being_stored(body):
    """What is written into a marker is read back as the same print."""
    assert Fingerprint.from_text(str(Fingerprint.of(body))) == Fingerprint.of(body)


def test_raw_and_json_prints_never_meet():
    """Bytes that spell the canonical form of a JSON value, but are no JSON, are not that value."""
    canonical = b'{"a":1e0,}'  # how {"a":1} is written before it is hashed
    assert Fingerprint.of(canonical).hash == of('{"a":1}').hash
    assert Fingerprint.of(canonical) != of('{"a":1}')


def test_prints_never_change():
    """Markers written by an earlier version must be met with the same print: this one is pinned."""
    body = '{"orderId":"1001","total":19.90,"lines":[{"sku":"A","n":2},null,true]}'
    assert str(of(body)) == PINNED


PINNED = "json.v1:3c155ec388de934b2c687eca81ce02081382e9c3bb8a1e38fc121f5cb02ca34d"
