"""The front of the service: who may ask, where a request goes, what faults do to it, how answers look."""

import asyncio
import time
import uuid

from aiohttp import web

from . import auth
from .account_routes import AccountRoutes
from .container import Container
from .errors import COLLECTION_RID_MISMATCH, NAMES, CosmosError, bad_request, not_supported
from .exchange import Exchange, Reply
from .faults import Fault, Faults, RequestSummary, When
from .feed_routes import FeedRoutes
from .holds import Holds
from .item import compact
from .item_routes import ItemRoutes
from .journal import Journal
from .query_routes import QueryRoutes
from .store import Store

_SERVICE_HEADERS = {
    "x-ms-gatewayversion": "2.0.0",
    "x-ms-schemaversion": "1.18",
    "x-ms-serviceversion": "version=2.14.0.0",
}


class _AnswerDropped(Exception):
    """A fault cuts the connection."""


class Gateway:
    """Handles every request that is not for the controls."""

    def __init__(self, store: Store, key: str, faults: Faults, holds: Holds, journal: Journal) -> None:
        self._store = store
        self._key = key
        self._faults = faults
        self._holds = holds
        self._journal = journal
        self._account = AccountRoutes(store)
        self._items = ItemRoutes(store)
        self._queries = QueryRoutes(store)
        self._feeds = FeedRoutes(store)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        started = time.perf_counter()
        exchange = Exchange(request, await request.read())
        summary = exchange.summary()
        status: int | None = None
        substatus, answered, body = 0, True, ""
        try:
            auth.verify(self._key, exchange.method, exchange.resource, exchange.segments, exchange.headers)
            fault = exchange.fault = self._faults.take(summary)
            await self._strike(fault, When.BEFORE, summary)
            reply, refusal = self._carry_out(exchange)
            status = refusal.status if refusal else reply.status
            await self._strike(fault, When.AFTER, summary)
            if refusal:
                raise refusal
            body = reply.body
        except CosmosError as refusal:
            status, substatus = refusal.status, refusal.substatus
            body = _error_body(exchange, refusal)
        except _AnswerDropped:
            answered = False
            if request.transport is not None:
                request.transport.abort()
        self._journal.record(summary, status, substatus, exchange.charge, answered)
        return _response(exchange, status or 500, body, started)

    def _carry_out(self, exchange: Exchange) -> tuple[Reply, CosmosError | None]:
        """Do the work. A refusal is a result too: a fault afterwards may still replace it."""
        try:
            return self._route(exchange), None
        except (UnicodeEncodeError, OverflowError):
            refusal = bad_request("A text in the request is no Unicode, or a number does not fit into a double.")
        except CosmosError as error:
            refusal = error
        return Reply(refusal.status), refusal

    async def _strike(self, fault: Fault | None, when: When, request: RequestSummary) -> None:
        if fault is None or fault.when is not when:
            return
        if fault.hold:
            await self._holds.wait(request, when)
        if fault.delay_ms:
            await asyncio.sleep(fault.delay_ms / 1000)
        if fault.drop:
            raise _AnswerDropped
        if fault.status is not None and fault.operation_index is None:
            wait = {} if fault.retry_after_ms is None else {"x-ms-retry-after-ms": str(fault.retry_after_ms)}
            raise CosmosError(fault.status, "Injected by a fault.", fault.substatus, wait)

    def _route(self, exchange: Exchange) -> Reply:
        match exchange.segments:
            case []:
                return self._account.account(exchange)
            case ["offers"]:
                return self._account.offers(exchange)
            case ["offers", _]:
                return self._account.offer(exchange)
            case ["dbs"]:
                return self._account.databases(exchange)
            case ["dbs", _]:
                return self._account.database(exchange)
            case ["dbs", _, "colls"]:
                return self._account.containers(exchange)
            case ["dbs", _, "colls", _]:
                return self._account.container(exchange)
            case ["dbs", database, "colls", name, *rest]:
                return self._route_inside(exchange, self._container(exchange, database, name), rest)
        raise not_supported(f"The resource '{'/'.join(exchange.segments)}'")

    def _route_inside(self, exchange: Exchange, container: Container, rest: list[str]) -> Reply:
        match rest, exchange.verb:
            case ["pkranges"], "Read":
                return self._account.key_ranges(exchange, container)
            case ["docs"], "Batch":
                return self._items.batch(exchange, container)
            case ["docs"], "Create" | "Upsert":
                return self._items.create(exchange, container)
            case ["docs"], "Query":
                return self._queries.query(exchange, container)
            case ["docs"], "QueryPlan":
                return self._queries.plan(exchange, container)
            case ["docs"], "ReadFeed":
                return self._queries.read_feed(exchange, container)
            case ["docs"], "ChangeFeed":
                return self._feeds.changes(exchange, container)
            case ["docs", _], _:
                return self._items.item(exchange, container)
            case ["operations", "partitionkeydelete"], _:
                return self._items.delete_partition(exchange, container)
        raise not_supported(f"{exchange.method} of '{'/'.join(rest)}' in a container")

    def _container(self, exchange: Exchange, database: str, name: str) -> Container:
        container = self._store.catalog.owning_container(database, name)
        intended = exchange.headers.get("x-ms-cosmos-intended-collection-rid")
        if intended and intended != container.rid:  # the client knew an earlier container of the same name
            raise CosmosError(400, "The container's resource id is not the intended one.", COLLECTION_RID_MISMATCH)
        exchange.stamp(container)
        return container


def _error_body(exchange: Exchange, refusal: CosmosError) -> str:
    exchange.answer_headers.update(refusal.headers)
    if refusal.substatus:
        exchange.answer_headers["x-ms-substatus"] = str(refusal.substatus)
    if refusal.status == 304:
        return ""
    activity = exchange.headers.get("x-ms-activity-id", "")
    message = f"{refusal.message}\r\nActivityId: {activity}, local stand-in"
    return compact({"code": NAMES.get(refusal.status, str(refusal.status)), "message": message, **refusal.detail})


def _response(exchange: Exchange, status: int, body: str, started: float) -> web.Response:
    headers = {
        **_SERVICE_HEADERS,
        "x-ms-activity-id": exchange.headers.get("x-ms-activity-id") or str(uuid.uuid4()),
        "x-ms-request-charge": f"{exchange.charge:.2f}",
        "x-ms-request-duration-ms": f"{(time.perf_counter() - started) * 1000:.3f}",
        **exchange.answer_headers,
    }
    if not body:
        return web.Response(status=status, headers=headers)
    return web.Response(status=status, headers=headers, body=body.encode(), content_type="application/json")
