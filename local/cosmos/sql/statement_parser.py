"""Text to `Query`: the clauses of a SELECT statement around their expressions."""

import functools
import json
import re
from typing import Any

from ..errors import CosmosError, bad_request, not_supported
from .expression_parser import ExpressionParser, NotSupported
from .expressions import Expression, Path
from .query import Column, Order, Query, Source, Texts
from .tokens import Sort, SyntaxFault

_IMPLICIT_NAME = re.compile(r"""(?:^|\.)([^\W\d]\w*)$|\[\s*["'](.+?)["']\s*\]$""")
_QUERIES_KEPT = 512  # an app has a handful of query texts; their parameters make some more


def parse(body: Any) -> Query:
    """A request body `{"query": text, "parameters": [{"name", "value"}]}` as a `Query`.

    CosmosError 400 for a query that the service refuses, 501 for one that this stand-in does not understand.
    """
    if not isinstance(body, dict) or not isinstance(body.get("query"), str):
        raise bad_request("The query text is missing.")
    try:
        return _parsed(body["query"], json.dumps(body.get("parameters") or []))
    except SyntaxFault as fault:
        raise _refused(str(fault)) from None
    except NotSupported as missing:
        raise not_supported(str(missing)) from None
    except RecursionError:
        raise _refused("The query is nested too deeply.") from None


def _refused(message: str) -> CosmosError:
    detail = {"errors": [{"severity": "Error", "code": "SC1001", "message": message}]}
    return bad_request(f"Message: {json.dumps(detail)}")


@functools.lru_cache(maxsize=_QUERIES_KEPT)
def _parsed(text: str, parameters: str) -> Query:
    given = {one["name"]: one.get("value") for one in json.loads(parameters)}
    return _Statement(ExpressionParser(text, given)).query()


class _Statement:
    """Reads one statement, clause by clause."""

    def __init__(self, parser: ExpressionParser) -> None:
        self._parser = parser

    def query(self) -> Query:
        parser = self._parser
        parser.need_keyword("SELECT")
        distinct = parser.keyword("DISTINCT")
        top = self._integer() if parser.keyword("TOP") else None
        distinct = parser.keyword("DISTINCT") or distinct
        is_value = parser.keyword("VALUE")
        start = parser.next.start
        columns = None if parser.mark("*") else self._columns()
        select_text = parser.source(start)
        start = parser.next.end
        sources = self._sources() if parser.keyword("FROM") else ()
        source_text = parser.source(start) if sources else ""
        start = parser.next.end
        where = parser.expression() if parser.keyword("WHERE") else None
        where_text = parser.source(start) if where else ""
        group_by = tuple(parser.listed(parser.expression)) if parser.keyword("GROUP", "BY") else ()
        order_by, order_text = self._order_by()
        offset, limit = self._window()
        if parser.next.sort is not Sort.END:
            parser.fail()
        query = Query(
            columns=columns,
            is_value=is_value,
            distinct=distinct,
            top=top,
            sources=sources,
            where=where,
            group_by=group_by,
            # One row has no order: the service accepts the clause beside a bare aggregate and it changes nothing.
            order_by=() if parser.aggregates and not group_by else order_by,
            offset=offset,
            limit=limit,
            aggregates=tuple(aggregate.name for aggregate in parser.aggregates),
            texts=Texts(select_text, source_text.strip(), where_text.strip(), order_text),
        )
        self._check(query)
        return query

    def _check(self, query: Query) -> None:
        aliases = {source.alias for source in query.sources}
        for name in self._parser.names:
            if name not in aliases:
                raise SyntaxFault(f"Identifier '{name}' could not be resolved.")
        if query.columns is None and len(query.sources) != 1:
            raise SyntaxFault("'SELECT *' is only valid with a single input set.")
        if query.group_by and query.order_by:
            raise SyntaxFault("'ORDER BY' is not supported in presence of 'GROUP BY'.")
        if query.is_value and query.columns is not None and len(query.columns) != 1:
            raise SyntaxFault("Cannot select more than one value with 'SELECT VALUE'.")
        if query.aggregates or query.group_by:
            self._check_grouped(query)

    def _check_grouped(self, query: Query) -> None:
        columns = query.columns
        if columns is None:
            raise SyntaxFault("'SELECT *' is not supported in presence of 'GROUP BY' or aggregates.")
        for column in columns:
            if isinstance(column.expression, Path) and column.expression not in query.group_by:
                raise SyntaxFault(
                    f"Property reference '{column.text}' is invalid in the select list because it is not contained in "
                    "either an aggregate function or the GROUP BY clause."
                )

    def _columns(self) -> tuple[Column, ...]:
        return tuple(
            Column(name or f"${position}", expression, text)
            for position, (name, expression, text) in self._numbered(self._parser.listed(self._column))
        )

    @staticmethod
    def _numbered(columns: list[tuple[str | None, Expression, str]]) -> list[tuple[int, tuple[Any, ...]]]:
        unnamed, numbered = 0, []
        for column in columns:
            unnamed += column[0] is None  # the service calls nameless columns $1, $2, …
            numbered.append((unnamed, column))
        return numbered

    def _column(self) -> tuple[str | None, Expression, str]:
        start = self._parser.next.start
        expression = self._parser.expression()
        text = self._parser.source(start)
        name = self._parser.optional_alias()
        if name is None and (found := _IMPLICIT_NAME.search(text)):
            name = found.group(1) or found.group(2)
        return name, expression, text

    def _sources(self) -> tuple[Source, ...]:
        sources = [self._from()]
        while self._parser.keyword("JOIN"):
            alias = self._parser.identifier()
            self._parser.need_keyword("IN")
            path = self._parser.postfix()
            if not isinstance(path, Path):
                self._parser.fail()
            sources.append(Source(alias, path, each=True))
        return tuple(sources)

    def _from(self) -> Source:
        first = self._parser.identifier()
        if self._parser.keyword("IN"):
            return Source(first, self._path(self._parser.identifier()), each=True)
        path = self._path(first)
        return Source(self._parser.optional_alias() or path.steps[-1], path, each=False)

    def _path(self, root: str) -> Path:
        steps = [root]
        while self._parser.mark("."):
            steps.append(self._parser.identifier())
        return Path(tuple(steps))

    def _order_by(self) -> tuple[tuple[Order, ...], str]:
        if not self._parser.keyword("ORDER", "BY"):
            return (), ""
        start = self._parser.next.start
        return tuple(self._parser.listed(self._order)), self._parser.source(start)

    def _order(self) -> Order:
        start = self._parser.next.start
        path = self._parser.expression()
        text = self._parser.source(start)
        descending = self._parser.keyword("DESC")
        if not descending:
            self._parser.keyword("ASC")
        if not isinstance(path, Path) or len(path.steps) == 1:
            raise SyntaxFault(
                "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path."
            )
        return Order(path, descending, text)

    def _window(self) -> tuple[int | None, int | None]:
        if not self._parser.keyword("OFFSET"):
            return None, None
        offset = self._integer()
        self._parser.need_keyword("LIMIT")
        return offset, self._integer()

    def _integer(self) -> int:
        token = self._parser.take()
        match token.sort:
            case Sort.NUMBER:
                value = token.value()
            case Sort.PARAMETER:
                value = self._parser.parameter(token.text)
            case _:
                value = None
        if type(value) is not int or value < 0:
            raise SyntaxFault(f"Syntax error, a non-negative integer is expected instead of '{token.text}'.")
        return value
