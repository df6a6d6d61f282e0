"""What a container is: its definition, checked, and the questions the rest asks of it."""

import re
from dataclasses import dataclass
from typing import Any

from . import partition_keys
from .errors import bad_request, not_supported

type Document = dict[str, Any]
type Path = tuple[str, ...]

TTL_ON_WITHOUT_DEFAULT = -1
MAX_TTL_SECONDS = 2**31 - 1  # "Time to Live (TTL) in Azure Cosmos DB": a 32-bit number of seconds
MAX_HIERARCHY_LEVELS = 3  # "Hierarchical partition keys"
MISSING: Any = object()
_PATH_STEP = re.compile(r"""/(?:"([^"]*)"|'([^']*)'|([^/"']+))""")


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A slice of the effective partition keys; the unit that has its own log sequence numbers."""

    id: str  # partition key range id, "0", "1", …
    low: str  # first effective partition key inside
    high: str  # first one outside


@dataclass(frozen=True, slots=True)
class Container:
    """One container, as of its latest definition."""

    database: str  # name of the database
    name: str
    rid: str  # resource id
    link: str  # `_self` link, by resource ids
    definition: Document  # what clients are answered
    ranges: tuple[KeyRange, ...]  # in order of effective partition keys
    partition_paths: tuple[Path, ...]
    hierarchical: bool  # partition key of kind MultiHash
    default_ttl: int | None  # None: TTL is off; -1: on, no default; else seconds
    unique_keys: tuple[tuple[Path, ...], ...]

    @classmethod
    def of(cls, database: str, link: str, definition: Document, ranges: tuple[KeyRange, ...]) -> "Container":
        key = definition["partitionKey"]
        unique = (definition.get("uniqueKeyPolicy") or {}).get("uniqueKeys", [])
        return cls(
            database=database,
            name=definition["id"],
            rid=definition["_rid"],
            link=link,
            definition=definition,
            ranges=ranges,
            partition_paths=tuple(parse_path(path) for path in key["paths"]),
            hierarchical=key.get("kind") == "MultiHash",
            default_ttl=definition.get("defaultTtl"),
            unique_keys=tuple(tuple(parse_path(path) for path in one["paths"]) for one in unique),
        )

    @property
    def path(self) -> str:
        """Link by names; the SDK files session tokens under it."""
        return f"dbs/{self.database}/colls/{self.name}"

    def effective_key(self, partition_key: str) -> str:
        return partition_keys.effective(partition_key, self.hierarchical)

    def range_of(self, partition_key: str) -> KeyRange:
        effective = self.effective_key(partition_key)
        return next(slice_ for slice_ in self.ranges if slice_.low <= effective < slice_.high)

    def partition_key_of(self, document: Document) -> str:
        """Canonical partition key value in a document; what is no scalar counts as undefined."""
        values = [value_at(document, path) for path in self.partition_paths]
        undefined = partition_keys.UNDEFINED_COMPONENT
        return partition_keys.canonical(
            [undefined if v is MISSING or isinstance(v, dict | list) else v for v in values]
        )


def parse_path(text: str) -> Path:
    """Steps of a path such as /address/"zip code"."""
    return tuple(a or b or c for a, b, c in _PATH_STEP.findall(text))


def value_at(document: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(document, dict) or step not in document:
            return MISSING
        document = document[step]
    return document


def check_definition(body: Document) -> None:
    """CosmosError 400 for a definition that the service refuses, 501 for one that only this stand-in cannot serve."""
    key = body.get("partitionKey")
    paths = key.get("paths") if isinstance(key, dict) else None
    if not isinstance(key, dict) or not isinstance(paths, list) or not paths:
        raise bad_request("The partition key definition is missing.")
    most = MAX_HIERARCHY_LEVELS if key.get("kind") == "MultiHash" else 1
    if len(paths) > most or not all(isinstance(path, str) and parse_path(path) for path in paths):
        raise bad_request("The partition key definition is invalid.")
    if key.get("version", 1) != 2:
        raise not_supported("A partition key definition of version 1")
    for policy in ("vectorEmbeddingPolicy", "fullTextPolicy", "computedProperties"):
        if body.get(policy):
            raise not_supported(f"The container property '{policy}'")
    check_ttl(body.get("defaultTtl"), "The value of the property 'defaultTtl' specified is invalid; ")


def check_ttl(ttl: Any, complaint: str) -> None:
    """CosmosError 400 unless `ttl` is absent (None), -1 or a positive 32-bit number of seconds."""
    if ttl is None or (type(ttl) is int and (ttl == TTL_ON_WITHOUT_DEFAULT or 0 < ttl <= MAX_TTL_SECONDS)):
        return
    raise bad_request(f"{complaint}Ensure to provide a nonzero positive integer or -1.")
