"""The query plan: what the gateway tells a client that must run a query range by range and merge the results.

The members are those that the public SDKs read from `PartitionedQueryExecutionInfo`.
"""

import json
from typing import Any

from ..errors import bad_request
from .query import Query
from .tokens import tokens

_AGGREGATES = {"COUNT": "Count", "SUM": "Sum", "AVG": "Average", "MIN": "Min", "MAX": "Max"}
# The client puts its resume condition in the place of this marker.
_RESUME_FILTER = "{documentdb-formattableorderbyquery-filter}"


def plan(query: Query, ranges: list[dict[str, Any]]) -> dict[str, Any]:
    """The plan over `ranges` of effective partition keys."""
    distinct = ("Ordered" if query.order_by else "Unordered") if query.distinct else "None"
    return {
        "partitionedQueryExecutionInfoVersion": 2,
        "queryInfo": {
            "distinctType": distinct,
            "top": query.top,
            "offset": query.offset,
            "limit": query.limit,
            "orderBy": ["Descending" if order.descending else "Ascending" for order in query.order_by],
            "orderByExpressions": [order.text for order in query.order_by],
            "groupByExpressions": [],
            "groupByAliases": [],
            "aggregates": [_AGGREGATES[name] for name in query.aggregates],
            "groupByAliasToAggregateType": {},
            "rewrittenQuery": _rewritten(query),
            "hasSelectValue": query.is_value,
            "hasNonStreamingOrderBy": False,
        },
        "queryRanges": ranges,
    }


def check_features(query: Query, supported: str) -> None:
    """CosmosError 400 if the calling client (its list of query features) cannot merge what the query needs."""
    needed = {
        "GroupBy": bool(query.group_by),
        "MultipleAggregates": len(query.aggregates) > 1,
    }
    missing = [name for name, is_needed in needed.items() if is_needed and name not in supported.split(",")]
    if missing:
        raise bad_request(
            "Query contains the following features, which the calling client does not support: " + ", ".join(missing)
        )


def _rewritten(query: Query) -> str:
    """The query that each range runs; empty where the client can send the original."""
    texts = query.texts
    source = f" FROM {texts.source}" if query.sources else ""
    where = f" WHERE {texts.where}" if texts.where else ""
    # DISTINCT is finished by the client, over all ranges, so no range may cut its results short.
    may_cut = not (query.distinct and query.order_by)
    window = ""
    if query.offset is not None and query.limit is not None and may_cut:
        window = f" OFFSET 0 LIMIT {query.offset + query.limit}"
    head = f"SELECT {'DISTINCT ' if query.distinct else ''}"
    if query.top is not None and may_cut:
        head += f"TOP {query.top} "
    if query.order_by:
        alias = query.sources[0].alias
        keys = ", ".join(f'{{"item": {order.text}}}' for order in query.order_by)
        condition = f"({texts.where}) AND ({_RESUME_FILTER})" if texts.where else f"({_RESUME_FILTER})"
        columns = f"{alias}._rid, [{keys}] AS orderByItems, {_payload(query)} AS payload"
        return f"{head}{columns}{source} WHERE {condition} ORDER BY {texts.order}{window}"
    if query.aggregates and query.is_value and query.columns:
        return f'SELECT VALUE [{{"item": {_partial(query)}}}]{source}{where}'
    if query.offset is not None:
        return f"{head}{'VALUE ' if query.is_value else ''}{texts.select}{source}{where}{window}"
    return ""


def _payload(query: Query) -> str:
    if query.columns is None:
        return query.sources[0].alias
    if query.is_value:
        return query.columns[0].text
    return "{" + ", ".join(f"{json.dumps(column.name)}: {column.text}" for column in query.columns) + "}"


def _partial(query: Query) -> str:
    """The aggregate of one range; averages travel as sum and count."""
    text = query.columns[0].text if query.columns else ""
    if query.aggregates != ("AVG",):
        return text
    words = tokens(text)
    argument = text[words[1].end : words[-2].start]
    return f'{{"sum": SUM({argument}), "count": COUNT({argument})}}'
