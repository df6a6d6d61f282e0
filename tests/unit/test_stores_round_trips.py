"""Every request of a call is told, answered or not."""

from types import SimpleNamespace

from shared.idempotency import Event, StoreCall
from shared.stores.cosmos_round_trips import RoundTrips
from tests.clock import ManualClock


def answer(status: int, charge: str) -> SimpleNamespace:
    return SimpleNamespace(http_response=SimpleNamespace(status_code=status, headers={"x-ms-request-charge": charge}))


def told(trips: RoundTrips, decided: int | None = None) -> list[tuple[int, float, float]]:
    events: list[Event] = []
    trips.report(events.append, decided)
    return [(call.status, call.request_charge, call.seconds) for call in events if isinstance(call, StoreCall)]


def test_a_request_that_another_one_followed_went_unanswered() -> None:
    """A read that moved to another region is two round trips, each with its own time."""
    clock = ManualClock()
    trips = RoundTrips("read", "orders", clock)
    hooks = trips.hooks
    assert not trips.sent
    hooks["raw_request_hook"](None)
    clock.advance(2)
    hooks["raw_request_hook"](None)
    clock.advance(1)
    hooks["raw_response_hook"](answer(200, "1.5"))
    assert trips.sent
    assert told(trips) == [(0, 0.0, 2.0), (200, 1.5, 1.0)]


def test_every_request_tells_when_it_was_sent() -> None:
    """Told together in the end, they are drawn where they were in time."""
    clock = ManualClock()
    began = clock.now()
    trips = RoundTrips("read", "orders", clock)
    for status in (503, 200):
        clock.advance(2)
        trips.hooks["raw_request_hook"](None)
        clock.advance(1)
        trips.hooks["raw_response_hook"](answer(status, "1"))
    events: list[Event] = []
    trips.report(events.append)
    sent = [(call.started_at - began).total_seconds() for call in events if isinstance(call, StoreCall)]
    assert sent == [2.0, 5.0]


def test_the_operation_that_failed_says_more_than_the_batch() -> None:
    """409 instead of 207, on the answer that decided and on no other."""
    trips = RoundTrips("commit", "orders", ManualClock())
    for status in (503, 207):
        trips.hooks["raw_request_hook"](None)
        trips.hooks["raw_response_hook"](answer(status, "0"))
    assert [status for status, _, _ in told(trips, 409)] == [503, 409]


def test_a_call_that_sent_nothing_is_told_too() -> None:
    """Nobody let us in: one call, no answer."""
    assert told(RoundTrips("commit", "orders", ManualClock()), 401) == [(0, 0.0, 0.0)]
