"""Queries over HTTP: pages, continuations, and the plan protocol of cross-partition queries."""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

from . import charges, partition_keys, sql
from .account_routes import feed
from .container import MISSING, Container
from .errors import CROSS_PARTITION_QUERY_NOT_SERVABLE, PARTITION_KEY_RANGE_GONE, CosmosError, bad_request
from .exchange import PARTITION_KEY_RANGE, Exchange, Reply
from .indexing import check_order
from .item import compact
from .item_routes import check_session, required_partition_key
from .items import Scope
from .store import Position, Store

DEFAULT_PAGE, LARGEST_PAGE = 100, 1000  # items in a page if the client does not say, and if it says -1
_READ_AHEAD = 200  # rows taken from the table at a time while a page fills
_NOT_SERVABLE = (
    "The provided cross partition query can not be directly served by the gateway. This is a first chance (internal) "
    "exception that all newer clients will know how to handle gracefully. This exception is traced, but unless you "
    "see it bubble up as an exception (which only happens on older SDK clients), then you can safely ignore this "
    "message."
)
_NOT_ENABLED = (
    "Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition to true, "
    "specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception."
)
_EVERYTHING = {"query": "SELECT * FROM c"}


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results."""

    texts: list[str]  # each result as JSON
    rest: dict[str, int] | None  # where the next page begins; None at the end


class QueryRoutes:
    """Requests under …/docs that ask for many items."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read_feed(self, exchange: Exchange, container: Container) -> Reply:
        """GET …/docs: every item."""
        return self._answer(exchange, container, sql.parse(_EVERYTHING), scope_of(exchange, container))

    def query(self, exchange: Exchange, container: Container) -> Reply:
        query = sql.parse(exchange.json())
        check_order(container.definition["indexingPolicy"], query)
        scope = scope_of(exchange, container)
        if scope == Scope():
            pinned = _pinned_partition(container, query)
            may_cross = exchange.flag("x-ms-documentdb-query-enablecrosspartition")
            if pinned is None and not may_cross:
                raise bad_request(_NOT_ENABLED)
            if query.needs_plan and may_cross:
                detail = {"additionalErrorInfo": compact(_plan(container, query))}
                raise CosmosError(400, _NOT_SERVABLE, CROSS_PARTITION_QUERY_NOT_SERVABLE, detail=detail)
            scope = Scope(partition_key=pinned)
        return self._answer(exchange, container, query, scope)

    def plan(self, exchange: Exchange, container: Container) -> Reply:
        query = sql.parse(exchange.json())
        sql.check_features(query, exchange.headers.get("x-ms-cosmos-supported-query-features", ""))
        return Reply(200, compact(_plan(container, query)))

    def _answer(self, exchange: Exchange, container: Container, query: sql.Query, scope: Scope) -> Reply:
        check_session(self._store, exchange, container)
        size = page_size(exchange)
        rest = _continuation(exchange)
        build = self._streamed if query.streams else self._whole
        page = build(container, query, _narrowed(scope, query), size, rest)
        if page.rest is not None:
            token = base64.b64encode(compact(page.rest).encode()).decode()
            exchange.answer_headers["x-ms-continuation"] = token
        exchange.stamp(container, *self._positions(container, scope))
        exchange.charge = charges.query(sum(map(len, page.texts)))
        return feed(exchange, container.rid, "Documents", page.texts)

    def _streamed(self, container: Container, query: sql.Query, scope: Scope, size: int, rest: dict[str, int]) -> Page:
        """A page that follows the items' numbers, so that writes between pages neither repeat nor skip an item.

        Like the gateway, a page over several ranges takes its results from one of them.
        """
        scopes = [scope]
        if scope.partition_key is None and scope.range_id is None:
            scopes = [Scope(range_id=one.id, low=scope.low, high=scope.high, id=scope.id) for one in container.ranges]
        at, after = rest.get("range", 0), rest.get("after", 0)
        if at >= len(scopes):
            raise bad_request("Invalid Continuation Token")
        found: list[tuple[int, str]] = []
        while len(found) <= size:
            items = self._store.items.scan(container, scopes[at], after, _READ_AHEAD)
            for item in items:
                text = item.rendered(container)
                results = [text] if query.is_plain else [compact(value) for value in query.run([json.loads(text)])]
                found.extend((item.number, result) for result in results)
            if len(items) < _READ_AHEAD:
                break
            after = items[-1].number
        texts = [text for _, text in found[:size]]
        if len(found) > size:
            return Page(texts, {"range": at, "after": found[size - 1][0]})
        return Page(texts, {"range": at + 1, "after": 0} if at + 1 < len(scopes) else None)

    def _whole(self, container: Container, query: sql.Query, scope: Scope, size: int, rest: dict[str, int]) -> Page:
        """A page of results that only all documents together can give: run again for each page, and cut."""
        documents = [json.loads(item.rendered(container)) for item in self._store.items.scan(container, scope)]
        results = query.run(documents)
        start = rest.get("skip", 0)
        end = start + size
        return Page([compact(one) for one in results[start:end]], {"skip": end} if end < len(results) else None)

    def _positions(self, container: Container, scope: Scope) -> list[Position]:
        if scope.partition_key is not None:
            ids = [container.range_of(scope.partition_key).id]
        else:
            ids = [scope.range_id] if scope.range_id is not None else [one.id for one in container.ranges]
        return [self._store.position(container, range_id) for range_id in ids]


def scope_of(exchange: Exchange, container: Container) -> Scope:
    """What part of the container the headers confine the request to. CosmosError 410 for a range that is not there."""
    low, high = exchange.headers.get("x-ms-start-epk"), exchange.headers.get("x-ms-end-epk")
    if low is None or high is None:
        low = high = None
    partition_key = None
    components = exchange.partition_key_components()
    if components and len(components) < len(container.partition_paths):  # the prefix of a hierarchical key
        low = container.effective_key(partition_keys.canonical(components))
        high = f"{low}FF"
    elif components is not None:
        partition_key = required_partition_key(exchange, container)
    range_id = exchange.headers.get(PARTITION_KEY_RANGE)
    if range_id is not None and range_id not in {one.id for one in container.ranges}:
        raise CosmosError(410, "The requested partition key range is gone.", PARTITION_KEY_RANGE_GONE)
    return Scope(partition_key=partition_key, range_id=range_id, low=low, high=high)


def page_size(exchange: Exchange) -> int:
    try:
        asked = int(exchange.headers.get("x-ms-max-item-count") or DEFAULT_PAGE)
    except ValueError:
        raise bad_request("The maximum item count is not a number.") from None
    return asked if 0 < asked <= LARGEST_PAGE else LARGEST_PAGE


def _narrowed(scope: Scope, query: sql.Query) -> Scope:
    """With `c.id = "…"` there is no need to look at every item."""
    id_ = query.equalities().get(("id",))
    if not isinstance(id_, str):
        return scope
    return Scope(scope.partition_key, scope.range_id, scope.low, scope.high, id_)


def _continuation(exchange: Exchange) -> dict[str, int]:
    token = exchange.headers.get("x-ms-continuation")
    if not token:
        return {}
    try:
        rest = json.loads(base64.b64decode(token, validate=True))
    except (ValueError, binascii.Error):
        rest = None
    if not isinstance(rest, dict) or not all(type(value) is int and value >= 0 for value in rest.values()):
        raise bad_request("Invalid Continuation Token")
    return rest


def _pinned_partition(container: Container, query: sql.Query) -> str | None:
    """The one partition key value that the filter allows, if it names all of it."""
    equalities = query.equalities()
    values = [equalities.get(path, MISSING) for path in container.partition_paths]
    if any(value is MISSING or not isinstance(value, str | int | float | None) for value in values):
        return None
    return partition_keys.canonical(values)


def _plan(container: Container, query: sql.Query) -> dict[str, Any]:
    pinned = _pinned_partition(container, query)
    low, high = ("", "FF") if pinned is None else (container.effective_key(pinned),) * 2
    only = {"min": low, "max": high, "isMinInclusive": True, "isMaxInclusive": pinned is not None}
    return sql.plan(query, [only])
