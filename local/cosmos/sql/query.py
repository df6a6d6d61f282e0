"""A parsed SELECT statement, and its evaluation over documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import bad_request
from .expressions import BINARY, Binary, Conjunction, Constant, Expression, Path, Row
from .values import UNDEFINED, fingerprint, sort_key


@dataclass(frozen=True, slots=True)
class Column:
    """One thing selected."""

    name: str  # member of the resulting object
    expression: Expression
    text: str  # as written


@dataclass(frozen=True, slots=True)
class Source:
    """FROM or JOIN: what an alias stands for."""

    alias: str
    path: Path  # where the value is found; under FROM its first step is any name for the document itself
    each: bool  # `alias IN path`: once for each element

    def values(self, row: Row) -> list[Any]:
        value = self.path.evaluate(row)
        if self.each:
            return value if isinstance(value, list) else []
        return [] if value is UNDEFINED else [value]


@dataclass(frozen=True, slots=True)
class Order:
    """One key of ORDER BY."""

    path: Path
    descending: bool
    text: str  # as written


@dataclass(frozen=True, slots=True)
class Texts:
    """Clauses as written, for the query that a plan rewrites."""

    select: str
    source: str
    where: str
    order: str


@dataclass(frozen=True, slots=True)
class Query:
    """One statement, parsed and checked."""

    columns: tuple[Column, ...] | None  # None: SELECT *
    is_value: bool  # SELECT VALUE
    distinct: bool
    top: int | None
    sources: tuple[Source, ...]  # the first is FROM, the others are joins; empty: no FROM
    where: Expression | None
    group_by: tuple[Expression, ...]
    order_by: tuple[Order, ...]
    offset: int | None
    limit: int | None
    aggregates: tuple[str, ...]  # names, in the order in which they appear
    texts: Texts

    @property
    def needs_plan(self) -> bool:
        """Whether running it over several ranges takes a client that merges: the gateway refuses it then."""
        whole = self.aggregates or self.order_by or self.group_by or self.distinct
        return bool(whole) or self.top is not None or self.offset is not None

    @property
    def streams(self) -> bool:
        """Whether each document gives at most one result on its own, so that pages can follow the documents."""
        return len(self.sources) == 1 and not self.sources[0].each and not self.needs_plan

    @property
    def is_plain(self) -> bool:
        """Whether the results are the documents as they are stored."""
        return self.streams and self.columns is None and self.where is None and len(self.sources[0].path.steps) == 1

    def equalities(self) -> dict[tuple[str, ...], Any]:
        """`alias.path = constant` conditions that must hold: path without the alias -> value."""
        if not self.sources or len(self.sources[0].path.steps) > 1 or self.sources[0].each:
            return {}
        parts = self.where.parts if isinstance(self.where, Conjunction) else (self.where,)
        found: dict[tuple[str, ...], Any] = {}
        for part in parts:
            match part:
                case Binary(function, Path(steps), Constant(value)) | Binary(function, Constant(value), Path(steps)):
                    if function is BINARY["="] and steps[0] == self.sources[0].alias and len(steps) > 1:
                        found.setdefault(steps[1:], value)
        return found

    def run(self, documents: Sequence[Any]) -> list[Any]:
        """All results, in order. CosmosError 400 if evaluating takes more depth than there is."""
        try:
            return self._results(documents)
        except RecursionError:
            raise bad_request("The query is nested too deeply.") from None

    def _results(self, documents: Sequence[Any]) -> list[Any]:
        rows = [row for row in self._rows(documents) if self.where is None or self.where.evaluate(row) is True]
        if self.group_by:
            rows = self._grouped(rows)
        elif self.aggregates:
            rows = [Row(rows[0].bindings if rows else {}, tuple(rows))]
        for order in reversed(self.order_by):
            keyed = [(sort_key(order.path.evaluate(row)), row) for row in rows]
            keyed.sort(key=lambda pair: pair[0], reverse=order.descending)
            rows = [row for _, row in keyed]
        results = [value for row in rows if (value := self._selected(row)) is not UNDEFINED]
        if self.distinct:
            first_of_each: dict[str, Any] = {}
            for value in results:
                first_of_each.setdefault(fingerprint(value), value)
            results = list(first_of_each.values())
        if self.offset is not None and self.limit is not None:
            results = results[self.offset : self.offset + self.limit]
        return results if self.top is None else results[: self.top]

    def _rows(self, documents: Sequence[Any]) -> Iterator[Row]:
        if not self.sources:
            yield Row({})
            return
        first, *joins = self.sources
        for document in documents:
            whole = Row({first.path.steps[0]: document})
            rows = [Row({first.alias: value}) for value in first.values(whole)]
            for join in joins:
                rows = [Row({**row.bindings, join.alias: value}) for row in rows for value in join.values(row)]
            yield from rows

    def _grouped(self, rows: list[Row]) -> list[Row]:
        groups: dict[tuple[str, ...], list[Row]] = {}
        for row in rows:
            key = tuple(fingerprint(one.evaluate(row)) for one in self.group_by)
            groups.setdefault(key, []).append(row)
        return [Row(group[0].bindings, tuple(group)) for group in groups.values()]

    def _selected(self, row: Row) -> Any:
        if self.columns is None:
            return row.bindings[self.sources[0].alias]
        if self.is_value:
            return self.columns[0].expression.evaluate(row)
        values = ((column.name, column.expression.evaluate(row)) for column in self.columns)
        return {name: value for name, value in values if value is not UNDEFINED}
