"""Partial document update ("Partial document update in Azure Cosmos DB"): add, set, replace, remove, incr, move."""

import json
from typing import Any

from . import sql
from .container import Container, Document
from .errors import bad_request, precondition_failed
from .item import SYSTEM_PROPERTIES, Item

MAX_OPERATIONS = 10  # the same page: "a maximum of 10 operations"
_END_OF_ARRAY = "-"
_ABSENT: Any = object()


def patched(container: Container, item: Item, request: Any) -> Document:
    """The item's document with the patch applied. CosmosError 400 for a faulty patch, 412 for a condition not met."""
    request = {"operations": request} if isinstance(request, list) else request
    operations = request.get("operations") if isinstance(request, dict) else None
    if not isinstance(operations, list) or not operations:
        raise bad_request("The patch request has no operations.")
    if len(operations) > MAX_OPERATIONS:
        raise bad_request(f"The number of patch operations can't exceed {MAX_OPERATIONS}.")
    _check_condition(container, item, request.get("condition"))
    document: Document = json.loads(item.body)
    fixed = {("id",), *container.partition_paths, *((name,) for name in SYSTEM_PROPERTIES)}
    for operation in operations:
        _apply(document, operation, fixed)
    return document


def _check_condition(container: Container, item: Item, condition: str | None) -> None:
    if not condition:
        return
    query = sql.parse({"query": f"SELECT * {condition}"})
    if not query.run([json.loads(item.rendered(container))]):
        raise precondition_failed()


def _apply(document: Document, operation: Any, fixed: set[tuple[str, ...]]) -> None:
    if not isinstance(operation, dict):
        raise bad_request("A patch operation must be a JSON object.")
    name = operation.get("op")
    path = _steps(operation.get("path"))
    source = _steps(operation["from"]) if name == "move" and "from" in operation else None
    if path in fixed or source in fixed:
        raise bad_request(f"For Patch operation {name}: the path '{operation['path']}' cannot be changed.")
    match name:
        case "add" | "set" | "replace":
            if "value" not in operation:
                raise bad_request(f"For Patch operation {name}: the value is missing.")
            _put(document, path, name, operation["value"])
        case "remove":
            _take(document, path)
        case "incr":
            _increment(document, path, operation.get("value"))
        case "move":
            if source is None:
                raise bad_request("For Patch operation move: the 'from' path is missing.")
            _put(document, path, "set", _take(document, source))
        case _:
            raise bad_request(f"The patch operation '{name}' is not known.")


def _steps(path: Any) -> tuple[str, ...]:
    if not isinstance(path, str) or not path.startswith("/"):
        raise bad_request("The patch path is invalid: it must begin with '/'.")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/"))


def _parent(document: Document, path: tuple[str, ...]) -> Any:
    node: Any = document
    for step in path[:-1]:
        node = _child(node, step)
    if not isinstance(node, dict | list):
        raise bad_request("For Patch operation: the path's parent is no object or array, or does not exist.")
    return node


def _child(node: Any, step: str) -> Any:
    match node:
        case dict():
            return node.get(step, _ABSENT)
        case list() if step.isdecimal() and int(step) < len(node):
            return node[int(step)]
        case _:
            return _ABSENT


def _put(document: Document, path: tuple[str, ...], name: str, value: Any) -> None:
    parent, last = _parent(document, path), path[-1]
    if name == "replace" and _child(parent, last) is _ABSENT:
        raise bad_request("For Patch operation replace: the path does not exist.")
    if isinstance(parent, dict):
        parent[last] = value
        return
    index = len(parent) if last == _END_OF_ARRAY else int(last) if last.isdecimal() else -1
    if not 0 <= index <= len(parent):
        raise bad_request("For Patch operation: the array index is out of bounds.")
    if name == "add" or index == len(parent):
        parent.insert(index, value)
    else:
        parent[index] = value


def _take(document: Document, path: tuple[str, ...]) -> Any:
    parent, last = _parent(document, path), path[-1]
    value = _child(parent, last)
    if value is _ABSENT:
        raise bad_request("For Patch operation remove: the path does not exist.")
    if isinstance(parent, dict):
        del parent[last]
    else:
        del parent[int(last)]
    return value


def _increment(document: Document, path: tuple[str, ...], by: Any) -> None:
    current = _child(_parent(document, path), path[-1])
    current = 0 if current is _ABSENT else current
    if not _is_number(current) or not _is_number(by):
        raise bad_request("For Patch operation incr: both the value and what it is added to must be numbers.")
    _put(document, path, "set", current + by)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
