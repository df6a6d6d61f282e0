"""What makes two deliveries the same message, and what is no identity at all."""

import pickle
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency import DeduplicationKey, NoStableKey


def key(identity: object, consumer: str = "place_order", source: str = "orders") -> DeduplicationKey:
    return DeduplicationKey.of(consumer, source, identity)


def usable(identity: object) -> bool:
    try:
        key(identity)
    except NoStableKey:
        return False
    return True


parts = st.one_of(
    st.text("ab17:|é/", min_size=1, max_size=5), st.integers(), st.binary(min_size=1, max_size=5), st.uuids()
)
identities = st.lists(parts.filter(usable), min_size=1, max_size=4).map(tuple)
names = st.text("ab:|/", min_size=1, max_size=3)


def typed(identity: tuple[object, ...]) -> list[tuple[type, object]]:
    return [(type(part), part) for part in identity]


@given(identities, identities, names, names, names, names)
def test_digests_are_equal_exactly_when_keys_are(a, b, consumer_a, consumer_b, source_a, source_b):
    """Different consumers, sources, parts or types of parts never share a digest; equal ones always do."""
    same = (consumer_a, source_a, typed(a)) == (consumer_b, source_b, typed(b))
    one, other = key(a, consumer_a, source_a), key(b, consumer_b, source_b)
    assert (one.digest == other.digest) is same


@given(identities)
def test_a_digest_is_a_document_id_in_every_store(identity):
    """Whatever the identity holds, the digest is 40 hexadecimal digits."""
    digest = key(identity).digest
    assert len(digest) == 40
    assert set(digest) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("a", "b"), ("a:b",)),
        (("1:a",), ("1", "a")),
        ((7,), ("7",)),
        ((b"7",), ("7",)),
        (("00000000-0000-4000-8000-000000000001",), (UUID("00000000-0000-4000-8000-000000000001"),)),
        (("a" * 100 + "x",), ("a" * 100 + "y",)),
        (("EUR/MWh",), ("EUR_MWh",)),
    ],
)
def test_framing_keeps_lookalikes_apart(one, other):
    """Parts that concatenate, print or truncate alike are still different identities."""
    assert key(one).digest != key(other).digest


@pytest.mark.parametrize(
    "identity",
    [
        12345678901234567890,
        -1,
        0,
        UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"),
        b"\x00\xff",
        "EUR/MWh",
        "a#b?",
        "é" * 600,
    ],
)
def test_ids_of_every_type_have_one_form(identity):
    """Big integers, GUIDs, bytes and any text are identities: equal copies have equal digests, others do not."""
    copy = pickle.loads(pickle.dumps(identity))  # noqa: S301 - our own; another object with the same value
    assert key(identity).digest == key(copy).digest
    assert key(identity).digest != key((identity, "more")).digest
    assert key(identity).digest != key(str(identity)[:-1] + "~").digest


def test_a_very_long_id_is_shortened_for_people_only():
    """What is logged and stored for people is bounded; the key is not: the last character counts."""
    one, other = key("é" * 5000 + "a"), key("é" * 5000 + "b")
    assert one.digest != other.digest
    assert len(one.text) == 256


@pytest.mark.parametrize(
    "identity",
    [
        None, "", " ", b"", "None", "null", "NULL", " none ", (), [],
        UUID(int=0), "00000000-0000-0000-0000-000000000000", "{00000000-0000-0000-0000-000000000000}", "0" * 32,
        ("tenant", None), (None, "order"), ("tenant", ""), ("tenant", "null"),
        True, 1.5, {"a": 1}, ("tenant", 1.0), "\ud800",
    ],
)  # fmt: skip
def test_what_names_nothing_is_no_key(identity):
    """A missing, empty, placeholder or inexact part is a missing key, also as one part of several."""
    with pytest.raises(NoStableKey):
        key(identity)


def test_two_consumers_of_one_message_have_two_keys():
    """Payments and notifications each process the message once."""
    assert key("1001/placed", "payments").digest != key("1001/placed", "notifications").digest


def test_digests_never_change():
    """Markers written by an earlier version must be met: these digests are pinned."""
    pinned = [key(i).digest for i in ("1001/placed", 7, b"7", UUID(int=7), ("tenant", 7))]
    assert pinned == PINNED
    assert all(a != b for a, b in pairwise(sorted(pinned)))


PINNED = [
    "c558a920271bff10381d6b625b72930f942ddf36",
    "0e6e87dd8e6d9de772a813c0bfeb6a54fd4eca4d",
    "51c828e962385fb3f4d4642237b76953163601c7",
    "1354af826782147d876622a834d9248b46e63b10",
    "045e40c907fc4234735aa31402585f7e3730fdd6",
]
