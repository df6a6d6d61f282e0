"""Databases and containers: made, found by name or resource id, replaced, deleted; and the LSN of each key range."""

import json
import sqlite3

from .clock import Clock
from .container import Container, Document, KeyRange, check_definition
from .errors import bad_request, conflict, not_found, owner_not_found
from .identifiers import Etags, new_container_rid, new_database_rid, resource_id
from .item import compact
from .storage import transaction

FIRST_LSN = 1
MAX_RU_OF_ONE_RANGE = 10_000  # "Partitioning and horizontal scaling": a physical partition serves up to 10,000 RU/s …
RU_FOR_EACH_RANGE = 6_000  # … and new containers are cut so that each range gets up to 6,000
_EFFECTIVE_KEY_SPACE = 1 << 126  # see partition_keys: the two highest bits are cleared
_DEFAULTS: Document = {
    "indexingPolicy": {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/*"}],
        "excludedPaths": [{"path": '/"_etag"/?'}],
    },
    "conflictResolutionPolicy": {
        "mode": "LastWriterWins",
        "conflictResolutionPath": "/_ts",
        "conflictResolutionProcedure": "",
    },
    "geospatialConfig": {"type": "Geography"},
}
_CONTAINER_LINKS = {
    "_docs": "docs/",
    "_sprocs": "sprocs/",
    "_triggers": "triggers/",
    "_udfs": "udfs/",
    "_conflicts": "conflicts/",
}
_ALREADY_EXISTS = "Resource with specified id or name already exists."


class Catalog:
    """The definitions, kept in memory and written through to the file."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock, etags: Etags) -> None:
        self._connection = connection
        self._clock = clock
        self._etags = etags
        self._databases: dict[str, Document] = {}
        self._containers: dict[tuple[str, str], Container] = {}
        for name, text in connection.execute("SELECT name, definition FROM databases"):
            self._databases[name] = json.loads(text)
        for name, text in connection.execute("SELECT database, definition FROM containers").fetchall():
            self._load(name, json.loads(text))

    # Databases

    def databases(self) -> list[Document]:
        return list(self._databases.values())

    def database(self, segment: str) -> Document | None:
        """The database of that name or resource id."""
        found = self._databases.get(segment)
        return found or next((one for one in self._databases.values() if one["_rid"] == segment), None)

    def owning_database(self, segment: str) -> Document:
        found = self.database(segment)
        if found is None:
            raise owner_not_found()
        return found

    def create_database(self, body: Document) -> Document:
        name = resource_id(body)
        if name in self._databases:
            raise conflict(_ALREADY_EXISTS)
        rid = new_database_rid()
        definition = self._stamped({"id": name}, rid, f"dbs/{rid}/", {"_colls": "colls/", "_users": "users/"})
        self._connection.execute("INSERT INTO databases VALUES(?, ?)", (name, compact(definition)))
        self._databases[name] = definition
        return definition

    def delete_database(self, name: str) -> None:
        with transaction(self._connection):
            self._connection.execute("DELETE FROM containers WHERE database = ?", (name,))
            self._connection.execute("DELETE FROM databases WHERE name = ?", (name,))
        del self._databases[name]
        self._containers = {key: one for key, one in self._containers.items() if one.database != name}

    # Containers

    def containers(self, database: str | None = None) -> list[Container]:
        return [one for one in self._containers.values() if database in (None, one.database)]

    def container(self, database: str, segment: str) -> Container | None:
        """The container of that name or resource id."""
        if found := self._containers.get((database, segment)):
            return found
        name = self.owning_database(database)["id"]
        candidates = self.containers(name)
        return next((one for one in candidates if segment in (one.name, one.rid)), None)

    def owning_container(self, database: str, segment: str) -> Container:
        found = self.container(database, segment)
        if found is None:
            raise owner_not_found()
        return found

    def create_container(self, database_segment: str, body: Document, throughput: int | None) -> Container:
        """`throughput` (RU/s) decides into how many key ranges the container is cut."""
        database = self.owning_database(database_segment)
        name = resource_id(body)
        check_definition(body)
        if (database["id"], name) in self._containers:
            raise conflict(_ALREADY_EXISTS)
        rid = new_container_rid(database["_rid"])
        given = {key: value for key, value in body.items() if value is not None}
        link = f"{database['_self']}colls/{rid}/"
        definition = self._stamped({**_DEFAULTS, **given}, rid, link, _CONTAINER_LINKS)
        with transaction(self._connection):
            row = (rid, database["id"], compact(definition))
            self._connection.execute("INSERT INTO containers VALUES(?, ?, ?)", row)
            for slice_ in _cut(throughput):
                values = (rid, slice_.id, slice_.low, slice_.high, FIRST_LSN)
                self._connection.execute("INSERT INTO ranges VALUES(?, ?, ?, ?, ?)", values)
        return self._load(database["id"], definition)

    def replace_container(self, container: Container, body: Document) -> Container:
        """Everything but the id and the partition key may change."""
        check_definition(body)
        for fixed in ("id", "partitionKey"):
            if body.get(fixed) != container.definition[fixed]:
                raise bad_request(f"Replacing the property '{fixed}' of a container is not supported by the service.")
        kept = {key: value for key, value in container.definition.items() if key != "defaultTtl"}
        given = {key: value for key, value in body.items() if value is not None and not key.startswith("_")}
        definition = self._stamped({**kept, **given}, container.rid, container.link, _CONTAINER_LINKS)
        values = (compact(definition), container.rid)
        self._connection.execute("UPDATE containers SET definition = ? WHERE rid = ?", values)
        return self._load(container.database, definition)

    def delete_container(self, container: Container) -> None:
        self._connection.execute("DELETE FROM containers WHERE rid = ?", (container.rid,))
        del self._containers[container.database, container.name]

    # Log sequence numbers

    def lsn(self, container: Container, range_id: str) -> int:
        """The last log sequence number of a key range."""
        query = "SELECT lsn FROM ranges WHERE container = ? AND id = ?"
        row = self._connection.execute(query, (container.rid, range_id)).fetchone()
        if row is None:
            raise not_found()
        return int(row[0])

    def set_lsn(self, container: Container, range_id: str, lsn: int) -> None:
        query = "UPDATE ranges SET lsn = ? WHERE container = ? AND id = ?"
        self._connection.execute(query, (lsn, container.rid, range_id))

    def _load(self, database: str, definition: Document) -> Container:
        query = "SELECT id, low, high FROM ranges WHERE container = ? ORDER BY low"
        ranges = tuple(KeyRange(*row) for row in self._connection.execute(query, (definition["_rid"],)))
        container = Container.of(database, definition["_self"], definition, ranges)
        self._containers[database, container.name] = container
        return container

    def _stamped(self, body: Document, rid: str, link: str, links: Document) -> Document:
        system = {"_rid": rid, "_self": link, "_etag": self._etags.next(), **links, "_ts": int(self._clock.now())}
        return {**body, **system}


def _cut(throughput: int | None) -> list[KeyRange]:
    count = 1 if not throughput or throughput <= MAX_RU_OF_ONE_RANGE else -(-throughput // RU_FOR_EACH_RANGE)
    inner = [f"{_EFFECTIVE_KEY_SPACE * n // count:032X}" for n in range(1, count)]
    edges = ["", *inner, "FF"]
    return [KeyRange(str(n), edges[n], edges[n + 1]) for n in range(count)]
