"""Values of the query language: `undefined`, three-valued logic, equality, comparison, order over all types."""

import json
from typing import Any, Final


class Undefined:
    """What a missing property evaluates to. It is neither true nor false, and equal to nothing."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = Undefined()

# The order of types under ORDER BY, MIN and MAX; clients that merge ranges use the same ranks.
_UNDEFINED, _NULL, _BOOLEAN, _NUMBER, _STRING, _ARRAY, _OBJECT = range(7)
_COMPARABLE = (_BOOLEAN, _NUMBER, _STRING)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def rank(value: Any) -> int:
    match value:
        case Undefined():
            return _UNDEFINED
        case None:
            return _NULL
        case bool():
            return _BOOLEAN
        case int() | float():
            return _NUMBER
        case str():
            return _STRING
        case list():
            return _ARRAY
        case _:
            return _OBJECT


def sort_key(value: Any) -> tuple[int, Any]:
    """A key that sorts values of all types together."""
    kind = rank(value)
    if kind in _COMPARABLE:
        return kind, value
    return kind, "" if kind in (_UNDEFINED, _NULL) else fingerprint(value)


def fingerprint(value: Any) -> str:
    """A text that is equal for equal values; for DISTINCT and GROUP BY."""
    return "undefined" if value is UNDEFINED else json.dumps(_numbers_as_one(value), sort_keys=True)


def _numbers_as_one(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_numbers_as_one(one) for one in value]
        case dict():
            return {name: _numbers_as_one(one) for name, one in value.items()}
    return value


def identical(left: Any, right: Any) -> bool:
    """Deep equality that keeps types apart: true is not 1."""
    if rank(left) != rank(right):
        return False
    match left:
        case list():
            return len(left) == len(right) and all(map(identical, left, right))
        case dict():
            return left.keys() == right.keys() and all(identical(left[name], right[name]) for name in left)
    return bool(left == right)


def equal(left: Any, right: Any) -> Any:
    return UNDEFINED if left is UNDEFINED or right is UNDEFINED else identical(left, right)


def less(left: Any, right: Any) -> Any:
    """`left < right`, or undefined where the two cannot be compared."""
    kind = rank(left)
    return bool(left < right) if kind == rank(right) and kind in _COMPARABLE else UNDEFINED


def negated(value: Any) -> Any:
    return not value if isinstance(value, bool) else UNDEFINED
