"""Built-in scalar functions ("System functions"). An argument of a wrong type gives undefined, as in the service."""

import json
import math
from collections.abc import Callable
from typing import Any

from .values import UNDEFINED, identical, is_number

type Function = Callable[..., Any]


def _text(count: int, function: Function) -> Function:
    """A function whose first `count` arguments must be strings."""
    return lambda *args: function(*args) if all(isinstance(one, str) for one in args[:count]) else UNDEFINED


def _number(function: Function) -> Function:
    return lambda value: function(value) if is_number(value) else UNDEFINED


def _folding(function: Callable[[str, str], bool]) -> Function:
    """A comparison of two strings whose optional third argument asks to ignore case."""

    def compare(left: str, right: str, ignore_case: Any = False) -> bool:
        return function(left.casefold(), right.casefold()) if ignore_case is True else function(left, right)

    return _text(2, compare)


def _substring(text: str, start: Any, length: Any) -> Any:
    if not is_number(start) or not is_number(length):
        return UNDEFINED
    return text[max(0, int(start)) :][: max(0, int(length))]


def _left(text: str, length: Any) -> Any:
    return text[: max(0, int(length))] if is_number(length) else UNDEFINED


def _right(text: str, length: Any) -> Any:
    return text[max(0, len(text) - int(length)) :] if is_number(length) else UNDEFINED


def _to_string(value: Any) -> Any:
    if value is UNDEFINED or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _concat(*parts: Any) -> Any:
    return "".join(parts) if all(isinstance(part, str) for part in parts) else UNDEFINED


def _array_contains(array: Any, wanted: Any, partial: Any = False) -> Any:
    if not isinstance(array, list):
        return UNDEFINED
    if partial is True and isinstance(wanted, dict):
        objects = (one for one in array if isinstance(one, dict))
        return any(all(name in one and identical(one[name], wanted[name]) for name in wanted) for one in objects)
    return any(identical(one, wanted) for one in array)


def _rounded(value: float) -> int:
    return int(math.copysign(math.floor(abs(value) + 0.5), value))  # halves go away from zero


FUNCTIONS: dict[str, Function] = {
    "IS_DEFINED": lambda value: value is not UNDEFINED,
    "IS_NULL": lambda value: value is None,
    "IS_BOOL": lambda value: isinstance(value, bool),
    "IS_NUMBER": is_number,
    "IS_STRING": lambda value: isinstance(value, str),
    "IS_ARRAY": lambda value: isinstance(value, list),
    "IS_OBJECT": lambda value: isinstance(value, dict),
    "IS_PRIMITIVE": lambda value: value is None or isinstance(value, bool | int | float | str),
    "STARTSWITH": _folding(str.startswith),
    "ENDSWITH": _folding(str.endswith),
    "CONTAINS": _folding(lambda text, part: part in text),
    "STRINGEQUALS": _folding(lambda left, right: left == right),
    "LOWER": _text(1, str.lower),
    "UPPER": _text(1, str.upper),
    "LENGTH": _text(1, len),
    "TRIM": _text(1, str.strip),
    "REPLACE": _text(3, str.replace),
    "SUBSTRING": _text(1, _substring),
    "LEFT": _text(1, _left),
    "RIGHT": _text(1, _right),
    "INDEX_OF": _text(2, str.find),
    "TOSTRING": _to_string,
    "CONCAT": _concat,
    "ARRAY_CONTAINS": _array_contains,
    "ARRAY_LENGTH": lambda array: len(array) if isinstance(array, list) else UNDEFINED,
    "ABS": _number(abs),
    "FLOOR": _number(math.floor),
    "CEILING": _number(math.ceil),
    "ROUND": _number(_rounded),
}
