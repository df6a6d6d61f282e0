"""Waiting until nothing is left to do: not before, not for ever."""

import pytest

from local.demo import standstill
from local.demo.standstill import Standstill, until


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standstill, "POLL_SECONDS", 0.0)


class Queue:
    """Answers one length after the other; the last for ever."""

    def __init__(self, *lengths: int) -> None:
        self.left = list(lengths)

    async def look(self) -> int:
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


async def test_what_is_done_at_one_look_only_is_not_done() -> None:
    """A message between broker and host is in no count for a moment."""
    queue = Queue(2, 0, 1, 0, 0, 7)
    await until(queue.look, lambda length: length == 0)
    assert queue.left == [7]


async def test_what_no_longer_changes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the state it stands at."""
    monkeypatch.setattr(standstill, "STANDSTILL_SECONDS", 0.0)
    with pytest.raises(Standstill, match="nothing moved: 3"):
        await until(Queue(5, 3).look, lambda length: length == 0)
