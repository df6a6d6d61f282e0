"""The consumer that the tests of the flow drive, in both placements of its marker."""

import pytest

from tests.counter import Bench, entity_bench


@pytest.fixture(params=[Bench, entity_bench], ids=["inbox marker", "entity as marker"])
def bench(request) -> Bench:
    """Both placements of the marker promise the same outcomes."""
    return request.param()


@pytest.fixture
def inbox() -> Bench:
    """With an inbox marker only: for handlers that keep a sum."""
    return Bench()
