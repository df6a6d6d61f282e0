"""Which ORDER BY clauses a container's indexing policy can serve ("Indexing policies in Azure Cosmos DB").

Filters on paths that are not indexed work, by reading everything; ordering by them does not.
"""

import re

from .container import Document, Path
from .errors import bad_request
from .sql import Query

_ALWAYS_INDEXED: tuple[Path, ...] = (("id",), ("_ts",))
_STEP = re.compile(r"""/(?:"([^"]*)"|([^/"]+))""")


def check_order(policy: Document, query: Query) -> None:
    """CosmosError 400 if the index cannot order by what the query asks for."""
    paths = [order.path.steps[1:] for order in query.order_by]
    if len(paths) == 1 and not _is_indexed(policy, paths[0]):
        raise bad_request("The index path corresponding to the specified order-by item is excluded.")
    if len(paths) > 1 and not _has_composite(policy, query, paths):
        raise bad_request(
            "The order by query does not have a corresponding composite index that it can be served from."
        )


def _is_indexed(policy: Document, path: Path) -> bool:
    if policy.get("indexingMode", "consistent").lower() == "none":
        return False
    if path in _ALWAYS_INDEXED:
        return True
    included = _precision(policy.get("includedPaths") or [], path)
    return included > _precision(policy.get("excludedPaths") or [], path)


def _precision(patterns: list[Document], path: Path) -> int:
    """How exactly the best of the patterns matches the path; -1 if none does. The more precise pattern wins."""
    best = -1
    for pattern in patterns:
        steps = tuple(quoted or plain for quoted, plain in _STEP.findall(pattern.get("path", "")))
        *fixed, last = steps or ("*",)  # "/" is the older spelling of "/*"
        if last == "*" and path[: len(fixed)] == tuple(fixed):
            best = max(best, 2 * len(fixed))
        if last == "?" and path == tuple(fixed):
            best = max(best, 2 * len(fixed) + 1)  # at equal length, /a/? is more precise than /a/*
    return best


def _has_composite(policy: Document, query: Query, paths: list[Path]) -> bool:
    wanted = [(path, order.descending) for path, order in zip(paths, query.order_by, strict=True)]
    reversed_order = [(path, not descending) for path, descending in wanted]
    for index in policy.get("compositeIndexes") or []:
        offered = [
            (tuple(quoted or plain for quoted, plain in _STEP.findall(one["path"])), one.get("order") == "descending")
            for one in index
        ]
        if offered in (wanted, reversed_order):
            return True
    return False
