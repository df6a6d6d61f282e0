"""Which partition a key belongs to: the same one, always and everywhere."""

import pytest
from azure.eventhub._buffered_producer._partition_resolver import generate_hash_code
from hypothesis import given
from hypothesis import strategies as st

from local.event_hubs.hashing import key_hash, lookup3, partition_of


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("7", -15263),
        ("131", 30562),
        ("7149583486996073602", 12977),
        ("FWfAT", -22341),
        ("sOdeEAsyQoEuEFPGerWO", -6503),
    ],
)
def test_published_hashes(key: str, expected: int) -> None:
    """The values that Microsoft's SDKs, in every language, hold themselves to."""
    assert key_hash(key) == expected


def test_published_lookup3() -> None:
    """The values in the comments of lookup3.c for hashlittle2: an empty string, and Lincoln's speech."""
    assert lookup3(b"") == (0xDEADBEEF, 0xDEADBEEF)
    assert lookup3(b"Four score and seven years ago") == (0x17770551, 0xCE7226E6)


@given(st.text(st.characters(max_codepoint=127), min_size=1))
def test_agrees_with_the_sdk(key: str) -> None:
    """The hash is that of the SDK for every ASCII key (the Python SDK takes characters for bytes)."""
    assert key_hash(key) == generate_hash_code(key)


@given(st.text(), st.integers(1, 32))
def test_partitions(key: str, count: int) -> None:
    """Every key, of whatever alphabet, has a partition of the hub."""
    try:
        key.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which cannot come over the wire
        return
    assert 0 <= partition_of(key, count) < count


def test_partition_of_a_negative_hash() -> None:
    """The remainder truncates towards zero, as in the service's own language: -15263 by 4 is -3."""
    assert partition_of("7", 4) == 3
    assert partition_of("131", 4) == 2


def test_keys_spread() -> None:
    """A hundred keys reach all partitions."""
    assert {partition_of(f"sku-{number}", 4) for number in range(100)} == {0, 1, 2, 3}
