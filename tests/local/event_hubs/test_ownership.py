"""Who may read a partition in a consumer group."""

from dataclasses import dataclass

import pytest

from local.event_hubs.faults import ReceiverStolen, TooManyReceivers
from local.event_hubs.ownership import MOST_RECEIVERS, Ownership


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """A receiver that is nothing but its claim."""

    epoch: int | None = None
    name: str = "nil"


def losers(ownership: Ownership[Reader], reader: Reader) -> list[Reader]:
    return [loser for loser, _ in ownership.admit(reader)]


@pytest.mark.parametrize("epoch", [5, 6])
def test_an_epoch_as_high_steals(epoch: int) -> None:
    """Whoever comes with the same or a higher epoch takes the partition over."""
    ownership, first = Ownership[Reader](), Reader(5, "first")
    assert losers(ownership, first) == []
    [(loser, reason)] = ownership.admit(Reader(epoch, "second"))
    assert loser is first
    assert reason.condition == "amqp:link:stolen"
    assert f"New receiver 'second' with higher epoch of '{epoch}' is created hence current receiver" in str(reason)


def test_a_lower_epoch_is_refused() -> None:
    """Whoever comes with a lower epoch is told so, and the owner stays."""
    ownership, owner = Ownership[Reader](), Reader(5)
    ownership.admit(owner)
    with pytest.raises(ReceiverStolen, match="higher epoch '5' already exists"):
        ownership.admit(Reader(4))
    assert losers(ownership, Reader(5)) == [owner]


def test_no_epoch_beside_an_epoch() -> None:
    """An epoch stands against all who have none, until its receiver is gone."""
    ownership, owner = Ownership[Reader](), Reader(0)
    ownership.admit(owner)
    with pytest.raises(ReceiverStolen, match="created with epoch of '0', and so non-epoch receiver is not allowed"):
        ownership.admit(Reader())
    ownership.remove(owner)
    assert losers(ownership, Reader()) == []


def test_an_epoch_puts_out_all_without() -> None:
    """The first epoch, whatever its number, ends every receiver without one."""
    ownership = Ownership[Reader]()
    readers = [Reader(), Reader()]
    for reader in readers:
        ownership.admit(reader)
    assert losers(ownership, Reader(0)) == readers


def test_an_epoch_ends_with_its_receiver() -> None:
    """After the owner has gone a lower epoch is as good as any."""
    ownership, owner = Ownership[Reader](), Reader(9)
    ownership.admit(owner)
    ownership.remove(owner)
    assert losers(ownership, Reader(1)) == []


def test_removing_a_loser_leaves_the_winner() -> None:
    """A receiver that was put out may be removed once more: it takes nobody's place away."""
    ownership, loser, winner = Ownership[Reader](), Reader(1), Reader(2)
    ownership.admit(loser)
    ownership.admit(winner)
    ownership.remove(loser)
    assert losers(ownership, Reader(3)) == [winner]


def test_five_receivers() -> None:
    """Five without epoch read side by side; the sixth has to wait until one goes."""
    ownership = Ownership[Reader]()
    readers = [Reader(name=f"r{number}") for number in range(MOST_RECEIVERS)]
    for reader in readers:
        assert losers(ownership, reader) == []
    with pytest.raises(TooManyReceivers, match=r"which is 5\. .* r0, r1, r2, r3, r4") as raised:
        ownership.admit(Reader())
    assert raised.value.condition == "amqp:resource-limit-exceeded"
    ownership.remove(readers[2])
    assert losers(ownership, Reader()) == []
