"""Everything that is not items: the account, databases, containers, partition key ranges, offers."""

from typing import Any

from . import sql
from .container import Container, Document
from .errors import CosmosError, bad_request, not_found, not_modified, precondition_failed
from .exchange import Exchange, Reply
from .item import compact
from .offers import Throughput
from .store import Store

REGION = "Local"
_ACCOUNT: Document = {
    "_self": "",
    "id": "local",
    "_rid": "local",
    "media": "//media/",
    "addresses": "//addresses/",
    "_dbs": "//dbs/",
    "enableMultipleWriteLocations": False,
    "enablePerPartitionFailoverBehavior": False,
    "userReplicationPolicy": {"asyncReplication": False, "minReplicaSetSize": 3, "maxReplicasetSize": 4},
    "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
    "systemReplicationPolicy": {"minReplicaSetSize": 3, "maxReplicasetSize": 4},
    "readPolicy": {"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
    "queryEngineConfiguration": "{}",
}


def feed(exchange: Exchange, owner_rid: str, name: str, texts: list[str]) -> Reply:
    """A list of resources, each given as JSON text."""
    exchange.answer_headers["x-ms-item-count"] = str(len(texts))
    return Reply(200, f'{{"_rid":"{owner_rid}","{name}":[{",".join(texts)}],"_count":{len(texts)}}}')


class AccountRoutes:
    """Answers for definitions; they are few, so lists are paged by position."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._catalog = store.catalog
        self._offers = store.offers

    def account(self, exchange: Exchange) -> Reply:
        # The endpoint that the client itself used is the one it can reach.
        here = [{"name": REGION, "databaseAccountEndpoint": exchange.base_url}]
        return Reply(200, compact({**_ACCOUNT, "writableLocations": here, "readableLocations": here}))

    # Databases

    def databases(self, exchange: Exchange) -> Reply:
        if exchange.verb in ("Read", "Query"):
            return self._list(exchange, "", "Databases", self._catalog.databases())
        throughput = Throughput(exchange.headers)
        database = self._catalog.create_database(exchange.json())
        if throughput.most:
            self._offers.create(database, throughput)
        return _shown(exchange, 201, database)

    def database(self, exchange: Exchange) -> Reply:
        database = self._catalog.database(exchange.segments[1])
        if database is None:
            raise not_found()
        match exchange.verb:
            case "Read":
                return _shown(exchange, 200, database)
            case "Delete":
                _check_etag(exchange, database)
                self._catalog.delete_database(database["id"])
                self._offers.forget(database["_self"])
                return Reply(204)
        raise _wrong_method(exchange)

    # Containers

    def containers(self, exchange: Exchange) -> Reply:
        database = self._catalog.owning_database(exchange.segments[1])
        exchange.answer_headers["x-ms-alt-content-path"] = f"dbs/{database['id']}"
        if exchange.verb in ("Read", "Query"):
            found = [container.definition for container in self._catalog.containers(database["id"])]
            return self._list(exchange, database["_rid"], "DocumentCollections", found)
        throughput = Throughput(exchange.headers)
        container = self._catalog.create_container(database["id"], exchange.json(), throughput.most)
        if throughput.most or self._offers.of(database["_self"]) is None:
            self._offers.create(container.definition, throughput)
        return _shown(exchange, 201, container.definition)

    def container(self, exchange: Exchange) -> Reply:
        container = self._catalog.container(exchange.segments[1], exchange.segments[3])
        if container is None:
            raise not_found()
        match exchange.verb:
            case "Read":
                pass
            case "Replace":
                _check_etag(exchange, container.definition)
                container = self._catalog.replace_container(container, exchange.json())
            case "Delete":
                _check_etag(exchange, container.definition)
                self._catalog.delete_container(container)
                self._offers.forget(container.link)
                return Reply(204)
            case _:
                raise _wrong_method(exchange)
        return _shown(exchange, 200, container.definition)

    def key_ranges(self, exchange: Exchange, container: Container) -> Reply:
        etag = f'"{container.rid}-{len(container.ranges)}"'
        exchange.answer_headers["etag"] = etag
        if exchange.headers.get("if-none-match") == etag:  # clients read on until they are told that nothing is new
            raise not_modified()
        texts = [
            compact(
                {
                    "id": one.id,
                    "_rid": f"{container.rid}pkr{one.id}",
                    "_self": f"{container.link}pkranges/{one.id}/",
                    "_etag": etag,
                    "_ts": container.definition["_ts"],
                    "minInclusive": one.low,
                    "maxExclusive": one.high,
                    "ridPrefix": int(one.id),
                    "throughputFraction": 1 / len(container.ranges),
                    "status": "online",
                    "parents": [],
                    "lsn": self._catalog.lsn(container, one.id),
                }
            )
            for one in container.ranges
        ]
        return feed(exchange, container.rid, "PartitionKeyRanges", texts)

    # Offers

    def offers(self, exchange: Exchange) -> Reply:
        if exchange.verb not in ("Read", "Query"):
            raise _wrong_method(exchange)
        return self._list(exchange, "", "Offers", self._offers.all())

    def offer(self, exchange: Exchange) -> Reply:
        offer = self._offers.get(exchange.segments[1])
        if offer is None:
            raise not_found()
        if exchange.verb == "Replace":
            body = exchange.json()
            if not isinstance(body, dict) or "content" not in body:
                raise bad_request("The offer has no content.")
            offer = self._offers.replace(offer, body)
        return _shown(exchange, 200, offer)

    def _list(self, exchange: Exchange, owner_rid: str, name: str, found: list[Document]) -> Reply:
        if exchange.verb == "Query":
            found = sql.parse(exchange.json()).run(found)
        try:
            size = int(exchange.headers.get("x-ms-max-item-count") or -1)
            start = int(exchange.headers.get("x-ms-continuation") or 0)
        except ValueError:
            raise bad_request("The maximum item count or the continuation is not a number.") from None
        end = start + size if size > 0 else len(found)
        if end < len(found):
            exchange.answer_headers["x-ms-continuation"] = str(end)
        return feed(exchange, owner_rid, name, [compact(one) for one in found[start:end]])


def _shown(exchange: Exchange, status: int, definition: dict[str, Any]) -> Reply:
    exchange.answer_headers["etag"] = definition["_etag"]
    if exchange.verb == "Read" and exchange.headers.get("if-none-match") == definition["_etag"]:
        raise not_modified()
    return Reply(status, compact(definition))


def _check_etag(exchange: Exchange, definition: Document) -> None:
    if exchange.headers.get("if-match", definition["_etag"]) not in ("*", definition["_etag"]):
        raise precondition_failed()


def _wrong_method(exchange: Exchange) -> CosmosError:
    return CosmosError(405, f"The resource does not take the method {exchange.method}.")
