"""The change feed of latest versions ("Change feed in Azure Cosmos DB"): each item's last change, by LSN."""

import email.utils

from . import charges
from .account_routes import feed
from .container import Container
from .errors import bad_request, not_modified, not_supported
from .exchange import Exchange, Reply
from .item import Item
from .item_routes import check_session
from .items import Scope
from .query_routes import page_size, scope_of
from .store import Store

_FROM_NOW = "*"


class FeedRoutes:
    """GET …/docs with `A-IM: Incremental Feed`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def changes(self, exchange: Exchange, container: Container) -> Reply:
        """Changes after the LSN in If-None-Match, or 304; the etag of either answer is where to go on."""
        if "incremental" not in exchange.headers["A-IM"].lower():
            raise not_supported("The change feed mode of all versions and deletes")
        check_session(self._store, exchange, container)
        scope = scope_of(exchange, container)
        range_id = self._range_of(container, scope)
        position = self._store.position(container, range_id)
        after = _after(exchange, position.lsn)
        within = Scope(scope.partition_key, range_id, scope.low, scope.high)
        changes, reached = self._page(container, within, after, _since(exchange), page_size(exchange))
        exchange.stamp(container, position)
        exchange.answer_headers["etag"] = f'"{position.lsn if reached is None else reached}"'
        if not changes:
            raise not_modified()
        texts = [item.rendered(container, with_lsn=True) for item in changes]
        exchange.charge = charges.query(sum(map(len, texts)))
        return feed(exchange, container.rid, "Documents", texts)

    def _page(
        self, container: Container, scope: Scope, after: int, since: float, size: int
    ) -> tuple[list[Item], int | None]:
        """A page and the LSN it ends with if there is more. A page may grow: one transaction is never split."""
        page: list[Item] = []
        for item in self._store.items.changes(container, scope, after, since):
            if len(page) >= size and item.lsn != page[-1].lsn:
                return page, page[-1].lsn
            page.append(item)
        return page, None

    @staticmethod
    def _range_of(container: Container, scope: Scope) -> str:
        if scope.range_id is not None:
            return scope.range_id
        if scope.partition_key is not None:
            return container.range_of(scope.partition_key).id
        if scope.low is not None:
            return next(one.id for one in container.ranges if one.low <= scope.low < one.high)
        return container.ranges[0].id


def _after(exchange: Exchange, now: int) -> int:
    etag = exchange.headers.get("if-none-match")
    if etag is None:
        return 0
    if etag == _FROM_NOW:
        return now
    digits = etag.strip('"')
    if not digits.isdecimal():
        raise bad_request("The change feed's If-None-Match is no etag of a change feed.")
    return int(digits)


def _since(exchange: Exchange) -> float:
    date = exchange.headers.get("if-modified-since")
    if date is None:
        return 0.0
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except ValueError:
        raise bad_request("The change feed's If-Modified-Since is no date.") from None
