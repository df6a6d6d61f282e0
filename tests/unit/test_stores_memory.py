"""What the store in memory offers beside the contract."""

import pytest

from shared.idempotency import Create, TooLarge
from shared.stores.items import Limits
from shared.stores.memory import MemoryStore


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(operations=1), "2 operations; one commit takes 1"),
        (Limits(item_bytes=50), "Document b measures .* one document takes 50"),
        (Limits(request_bytes=1100), "one commit takes 1100"),
    ],
)
async def test_limits_of_another_database(limits: Limits, told: str) -> None:
    """Whoever uses a stricter database tests against its limits."""
    store = MemoryStore("orderId", limits=limits)
    with pytest.raises(TooLarge, match=told):
        await store.commit("1", [Create("a", {}), Create("b", {"text": "x" * 50})])
    assert await store.read("1", "a") is None
