"""Expressions: each node evaluates itself over a row."""

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .functions import Function
from .values import UNDEFINED, equal, identical, is_number, less, negated, sort_key


@dataclass(frozen=True, slots=True)
class Row:
    """What an expression sees."""

    bindings: dict[str, Any]  # alias -> value
    group: tuple["Row", ...] | None = None  # the rows that an aggregate folds; None outside of one


class Expression(Protocol):
    def evaluate(self, row: Row) -> Any: ...


@dataclass(frozen=True, slots=True)
class Constant:
    value: Any

    def evaluate(self, row: Row) -> Any:  # noqa: ARG002 - the same for every row
        return self.value


@dataclass(frozen=True, slots=True)
class Path:
    """An alias and the property names under it."""

    steps: tuple[str, ...]

    def evaluate(self, row: Row) -> Any:
        value = row.bindings.get(self.steps[0], UNDEFINED)
        for step in self.steps[1:]:
            if not isinstance(value, dict):
                return UNDEFINED
            value = value.get(step, UNDEFINED)
        return value


@dataclass(frozen=True, slots=True)
class Index:
    """`base[key]`, also a property of something that is no path."""

    base: Expression
    key: Expression

    def evaluate(self, row: Row) -> Any:
        match self.base.evaluate(row), self.key.evaluate(row):
            case dict() as mapping, str() as name:
                return mapping.get(name, UNDEFINED)
            case list() as array, int() as position if 0 <= position < len(array):
                return array[position]
        return UNDEFINED


@dataclass(frozen=True, slots=True)
class ArrayOf:
    parts: tuple[Expression, ...]

    def evaluate(self, row: Row) -> Any:
        return [value for part in self.parts if (value := part.evaluate(row)) is not UNDEFINED]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    parts: tuple[tuple[str, Expression], ...]

    def evaluate(self, row: Row) -> Any:
        return {name: value for name, part in self.parts if (value := part.evaluate(row)) is not UNDEFINED}


@dataclass(frozen=True, slots=True)
class Call:
    function: Function
    arguments: tuple[Expression, ...]

    def evaluate(self, row: Row) -> Any:
        return self.function(*(argument.evaluate(row) for argument in self.arguments))


@dataclass(frozen=True, slots=True)
class Binary:
    function: Callable[[Any, Any], Any]
    left: Expression
    right: Expression

    def evaluate(self, row: Row) -> Any:
        return self.function(self.left.evaluate(row), self.right.evaluate(row))


@dataclass(frozen=True, slots=True)
class Unary:
    function: Callable[[Any], Any]
    operand: Expression

    def evaluate(self, row: Row) -> Any:
        return self.function(self.operand.evaluate(row))


@dataclass(frozen=True, slots=True)
class Conjunction:
    """AND: false wins over undefined."""

    parts: tuple[Expression, ...]

    def evaluate(self, row: Row) -> Any:
        return _fold((part.evaluate(row) for part in self.parts), decisive=False)


@dataclass(frozen=True, slots=True)
class Disjunction:
    """OR: true wins over undefined."""

    parts: tuple[Expression, ...]

    def evaluate(self, row: Row) -> Any:
        return _fold((part.evaluate(row) for part in self.parts), decisive=True)


def _fold(values: Iterator[Any], decisive: bool) -> Any:
    result: Any = not decisive
    for value in values:
        if value is decisive:
            return decisive
        if not isinstance(value, bool):
            result = UNDEFINED
    return result


@dataclass(frozen=True, slots=True)
class In:
    operand: Expression
    choices: tuple[Expression, ...]

    def evaluate(self, row: Row) -> Any:
        value = self.operand.evaluate(row)
        return UNDEFINED if value is UNDEFINED else any(identical(value, one.evaluate(row)) for one in self.choices)


@dataclass(frozen=True, slots=True)
class Like:
    operand: Expression
    pattern: Expression

    def evaluate(self, row: Row) -> Any:
        value, pattern = self.operand.evaluate(row), self.pattern.evaluate(row)
        if not isinstance(value, str) or not isinstance(pattern, str):
            return UNDEFINED
        wildcards = {"%": ".*", "_": "."}
        expression = "".join(wildcards.get(mark) or re.escape(mark) for mark in pattern)
        return re.fullmatch(expression, value, re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expression
    then: Expression
    otherwise: Expression

    def evaluate(self, row: Row) -> Any:
        return (self.then if self.condition.evaluate(row) is True else self.otherwise).evaluate(row)


@dataclass(frozen=True, slots=True)
class Coalesce:
    first: Expression
    second: Expression

    def evaluate(self, row: Row) -> Any:
        value = self.first.evaluate(row)
        return self.second.evaluate(row) if value is UNDEFINED else value


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, AVG, MIN or MAX over the rows of a group; undefined values are left out."""

    name: str
    argument: Expression

    def evaluate(self, row: Row) -> Any:
        if row.group is None:
            return UNDEFINED
        values = [value for one in row.group if (value := self.argument.evaluate(one)) is not UNDEFINED]
        match self.name:
            case "COUNT":
                return len(values)
            case "SUM" | "AVG" if not all(map(is_number, values)):
                return UNDEFINED
            case "SUM":
                return sum(values)
            case "AVG":
                return sum(values) / len(values) if values else UNDEFINED
        if not values or any(isinstance(value, list | dict) for value in values):
            return UNDEFINED
        return (min if self.name == "MIN" else max)(values, key=sort_key)


def _arithmetic(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if not is_number(left) or not is_number(right):
            return UNDEFINED
        try:
            return function(left, right)
        except (ZeroDivisionError, OverflowError, ValueError):
            return UNDEFINED

    return apply


def _divided(left: Any, right: Any) -> Any:
    return left // right if isinstance(left, int) and isinstance(right, int) and left % right == 0 else left / right


def _bits(function: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    return _arithmetic(lambda left, right: function(int(left), int(right)))


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "=": equal,
    "!=": lambda left, right: negated(equal(left, right)),
    "<>": lambda left, right: negated(equal(left, right)),
    "<": less,
    ">": lambda left, right: less(right, left),
    "<=": lambda left, right: negated(less(right, left)),
    ">=": lambda left, right: negated(less(left, right)),
    "||": lambda left, right: left + right if isinstance(left, str) and isinstance(right, str) else UNDEFINED,
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _arithmetic(_divided),
    "%": _arithmetic(operator.mod),
    "&": _bits(operator.and_),
    "|": _bits(operator.or_),
    "^": _bits(operator.xor),
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "NOT": negated,
    "!": negated,
    "-": lambda value: -value if is_number(value) else UNDEFINED,
    "+": lambda value: value if is_number(value) else UNDEFINED,
    "~": lambda value: ~int(value) if is_number(value) else UNDEFINED,
}
