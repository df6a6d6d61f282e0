"""Random sequences of operations, singly and in batches, against a dictionary that knows the rules."""

import json
from dataclasses import dataclass, field
from typing import Any

from azure.cosmos.partition_key import PartitionKey
from hypothesis import given, settings
from hypothesis import strategies as st

from local.cosmos import partition_keys
from local.cosmos.clock import Clock
from local.cosmos.errors import CosmosError
from local.cosmos.operations import Applied, Kind, Operation
from local.cosmos.storage import open_storage
from local.cosmos.store import Store

DEFAULT_TTL = 50
KEY = '["1"]'
IDS = ("a", "b", "c")
FIRST_REFUSAL = 400


@dataclass(frozen=True, slots=True)
class Wish:
    """An operation before it is known which etag is the current one."""

    kind: Kind
    id: str
    n: int  # content to write
    ttl: int | None
    etag: str  # "none", "current" or "stale"


@dataclass(slots=True)
class Model:
    """What should be there: id -> (n, etag, second of expiry or None)."""

    now: float = 0
    items: dict[str, tuple[int, str, float | None]] = field(default_factory=dict)

    def live(self, id_: str) -> tuple[int, str, float | None] | None:
        item = self.items.get(id_)
        return None if item is None or (item[2] is not None and item[2] <= self.now) else item

    def code(self, wish: Wish) -> int:
        """The status that the rules give this operation."""
        there = self.live(wish.id) is not None
        match wish.kind:
            case Kind.CREATE:
                return 409 if there else 201
            case Kind.UPSERT if not there:
                return 201
            case _ if not there:
                return 404
            case Kind.READ:
                return 200
            case _ if wish.etag == "stale":
                return 412
            case Kind.DELETE:
                return 204
        return 200

    def apply(self, wish: Wish, etag: str) -> None:
        if wish.kind is Kind.DELETE:
            del self.items[wish.id]
        elif wish.kind is not Kind.READ:
            ttl = DEFAULT_TTL if wish.ttl is None else wish.ttl
            self.items[wish.id] = (wish.n, etag, None if ttl == -1 else self.now + ttl)


class FrozenClock(Clock):
    """Time passes only when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 1_000_000.0

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        self._now += seconds
        return self._now


kinds = st.sampled_from([Kind.CREATE, Kind.UPSERT, Kind.REPLACE, Kind.DELETE, Kind.READ])
wishes = st.builds(
    Wish,
    kind=kinds,
    id=st.sampled_from(IDS),
    n=st.integers(0, 9),
    ttl=st.sampled_from([None, None, 10, 100, -1]),
    etag=st.sampled_from(["none", "none", "current", "stale"]),
)
steps = st.lists(st.lists(wishes, min_size=1, max_size=4) | st.sampled_from([1.0, 10.0, 60.0]), max_size=30)


def operation(model: Model, wish: Wish) -> Operation:
    document: dict[str, Any] = {"id": wish.id, "key": "1", "n": wish.n}
    if wish.ttl is not None:
        document["ttl"] = wish.ttl
    item = model.live(wish.id)
    etags = {"none": None, "stale": '"stale"', "current": item[1] if item else '"gone"'}
    guarded = wish.kind in (Kind.UPSERT, Kind.REPLACE, Kind.DELETE)
    return Operation(wish.kind, wish.id, document, if_match=etags[wish.etag] if guarded else None)


def settled(step: list[Wish]) -> bool:
    """Whether "current" means one thing: a client cannot know the etag that an earlier operation will give."""
    writes = [(position, wish.id) for position, wish in enumerate(step) if wish.kind is not Kind.READ]
    current = [(position, wish.id) for position, wish in enumerate(step) if wish.etag == "current"]
    return not any(earlier < later and id_ == other for later, id_ in current for earlier, other in writes)


def expected(model: Model, step: list[Wish], results: tuple[Applied | CosmosError | None, ...]) -> tuple[int, ...]:
    """The codes that the rules give this batch; the model is what the batch leaves if all goes well."""
    codes: list[int] = []
    for wish, result in zip(step, results, strict=True):
        codes.append(model.code(wish))
        if codes[-1] >= FIRST_REFUSAL:
            return tuple(codes[-1] if n == len(codes) - 1 else 424 for n in range(len(step)))
        written = isinstance(result, Applied) and result.item is not None
        model.apply(wish, result.item.etag if written else "unknown")
    return tuple(codes)


def code_of(result: Applied | CosmosError | None) -> int:
    return 424 if result is None else result.status


@settings(max_examples=150, deadline=None)
@given(steps)
def test_the_store_behaves_like_the_model(plan: list[list[Wish] | float]) -> None:
    """Codes, contents and log agree after every step; a refused batch leaves everything as it was."""
    clock, connection = FrozenClock(), open_storage(":memory:")
    store, model = Store(connection, clock), Model()
    store.catalog.create_database({"id": "d"})
    definition = {"id": "c", "partitionKey": {"paths": ["/key"], "version": 2}, "defaultTtl": DEFAULT_TTL}
    container = store.catalog.create_container("d", definition, None)
    lsn = store.position(container, "0").lsn
    for step in plan:
        if isinstance(step, float):
            clock.advance(step)
            model.now += step
            continue
        if not settled(step):
            continue
        draft = Model(model.now, dict(model.items))
        batch = store.batch(container, KEY, [operation(model, wish) for wish in step])
        codes = expected(draft, step, batch.results)
        assert tuple(map(code_of, batch.results)) == codes
        assert batch.committed is (max(codes) < FIRST_REFUSAL)
        if batch.committed:
            model = draft
            lsn += any(wish.kind is not Kind.READ for wish in step)
        assert store.position(container, "0").lsn == lsn
        for id_ in IDS:
            stored, kept = store.items.get(container, KEY, id_), model.live(id_)
            assert (stored and (json.loads(stored.body)["n"], stored.etag)) == (kept and kept[:2])
    connection.close()


# Minus zero and zero are one key here; what the service makes of minus zero is not known.
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False).map(lambda n: n or 0.0)
scalars = st.none() | st.booleans() | numbers


@given(scalars | st.text(max_size=60))
def test_effective_partition_keys_are_those_of_the_sdk(value: Any) -> None:
    """Clients route by the same hash, or they would look for items in the wrong range."""
    theirs = PartitionKey("/key")._get_epk_range_for_partition_key(value).min
    assert partition_keys.effective(partition_keys.canonical([value]), hierarchical=False) == theirs


@given(st.lists(scalars, min_size=3, max_size=3))
def test_hierarchical_keys_too(values: list[Any]) -> None:
    """Level by level."""
    theirs = PartitionKey(["/a", "/b", "/c"], kind="MultiHash")._get_epk_range_for_partition_key(values).min
    assert partition_keys.effective(partition_keys.canonical(values), hierarchical=True) == theirs
