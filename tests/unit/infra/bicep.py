"""Bicep files read into values, by their syntax alone: the compiler is not needed, and nothing is evaluated.

Objects, arrays, texts, numbers and booleans become Python's; everything that would have to be evaluated stays an
`Expression` with its text. A loop in place of a value becomes a `Loop`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_bicep
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bicep.language()))

type Value = str | int | bool | list[Value] | dict[str, Value] | Expression | Loop | None


@dataclass(frozen=True, slots=True)
class Expression:
    """Something that the deployment evaluates."""

    text: str
    """As it stands in the file."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`[for … in over: body]`."""

    over: str
    """What is looped over, as it stands in the file."""
    body: Value
    """What is made for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource declaration."""

    symbol: str
    """Its name in the file; nested ones are `parent::child`."""
    type: str
    """Full type without the version, such as `Microsoft.Storage/storageAccounts`."""
    version: str
    """Of the API."""
    existing: bool
    """Whether it is only referred to."""
    condition: str | None
    """Of `if (…)`."""
    over: str | None
    """What it is looped over."""
    body: Mapping[str, Value]
    """Its properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module declaration."""

    symbol: str
    """Its name in the file."""
    path: Path
    """The file it refers to, resolved; it may not exist."""
    condition: str | None
    """Of `if (…)`."""
    body: Mapping[str, Value]
    """`name`, `scope`, `params`, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BicepFile:
    """A file."""

    path: Path
    """Where it is."""
    syntax_errors: tuple[str, ...]
    """Places that are no Bicep; empty for a good file."""
    scope: str
    """`resourceGroup` unless the file says otherwise."""
    parameters: Mapping[str, bool]
    """Name, and whether it has a default."""
    decorators: Mapping[str, str]
    """Of parameters, by name, as they stand in the file."""
    variables: Mapping[str, Value]
    """By name."""
    resources: tuple[Resource, ...]
    """Nested ones included."""
    modules: tuple[Module, ...]
    """All of them."""
    outputs: Mapping[str, Value]
    """By name."""
    loaded: tuple[Path, ...]
    """Files that are read at compile time."""
    used: frozenset[str]
    """Every name that an expression refers to."""
    local: frozenset[str]
    """Names that loops and lambdas bring."""

    def made(self, type: str) -> list[Resource]:
        """Resources of a type that the file makes."""
        return [one for one in self.resources if one.type == type and not one.existing]

    def the(self, type: str) -> Resource:
        """The one resource of a type that the file makes."""
        (one,) = self.made(type)
        return one


def read(path: Path) -> BicepFile:
    """Read a file. Syntax errors are reported in the result, not raised."""
    root = _PARSER.parse(path.read_bytes()).root_node
    parameters, decorators, variables, outputs = {}, {}, {}, {}
    modules: list[Module] = []
    pending = ""
    for node in root.named_children:
        match node.type:
            case "decorators":
                pending = _text(node)
                continue
            case "parameter_declaration":
                parameters[_text(node.named_children[0])] = any(child.type == "=" for child in node.children)
                decorators[_text(node.named_children[0])] = pending
            case "variable_declaration":
                variables[_text(node.named_children[0])] = value_of(node.named_children[-1])
            case "output_declaration":
                outputs[_text(node.named_children[0])] = value_of(node.named_children[-1])
            case "module_declaration":
                modules.append(_module(node, path))
        pending = ""
    scopes = [_plain(node.named_children[0]) for node in root.named_children if node.type == "target_scope_assignment"]
    return BicepFile(
        path=path,
        syntax_errors=tuple(_errors(root)),
        scope=scopes[0] if scopes else "resourceGroup",
        parameters=parameters,
        decorators=decorators,
        variables=variables,
        resources=tuple(_resources(root, "", "")),
        modules=tuple(modules),
        outputs=outputs,
        loaded=tuple(_loaded(root, path)),
        used=frozenset(_used(root)),
        local=frozenset(_local(root)),
    )


def value_of(node: Node) -> Value:
    """A node as a value."""
    match node.type:
        case "string" if not any(child.type == "interpolation" for child in node.named_children):
            return _plain(node)
        case "number":
            return int(_text(node))
        case "boolean":
            return _text(node) == "true"
        case "null":
            return None
        case "array":
            return [value_of(child) for child in node.named_children]
        case "object":
            return _object(node)
        case "for_statement":
            return Loop(_text(_looped(node)), value_of(node.named_children[-1]))
        case _:
            return Expression(_text(node))


def _object(node: Node) -> dict[str, Value]:
    pairs = [child.named_children for child in node.named_children if child.type == "object_property"]
    return {_plain(pair[0]): value_of(pair[-1]) for pair in pairs if len(pair) > 1}


def _looped(loop: Node) -> Node:
    """What a loop goes over: the last but one of its parts."""
    return loop.named_children[-2]


def _resources(node: Node, outer_symbol: str, outer_type: str) -> Iterator[Resource]:
    for child in node.named_children:
        if child.type != "resource_declaration":
            yield from _resources(child, outer_symbol, outer_type)
            continue
        symbol = outer_symbol + _text(child.named_children[0])
        kind, _, version = _plain(child.named_children[1]).partition("@")
        condition, over, body = _wrapped(child.named_children[-1])
        yield Resource(
            symbol=symbol,
            type=f"{outer_type}{kind}",
            version=version,
            existing=any(part.type == "existing" for part in child.children),
            condition=condition,
            over=over,
            body=_object(body),
        )
        yield from _resources(body, f"{symbol}::", f"{outer_type}{kind}/")


def _module(node: Node, path: Path) -> Module:
    condition, _, body = _wrapped(node.named_children[-1])
    target = path.parent / _plain(node.named_children[1])
    return Module(symbol=_text(node.named_children[0]), path=target, condition=condition, body=_object(body))


def _wrapped(node: Node) -> tuple[str | None, str | None, Node]:
    """Condition, loop and body of a declaration."""
    match node.type:
        case "if_statement":
            return _text(node.named_children[0]), None, node.named_children[-1]
        case "for_statement":
            condition, _, body = _wrapped(node.named_children[-1])
            return condition, _text(_looped(node)), body
        case _:
            return None, None, node


def _errors(node: Node) -> Iterator[str]:
    if node.type == "ERROR" or node.is_missing:
        yield f"line {node.start_point.row + 1}: {_text(node)[:60]!r}"
    for child in node.children:
        yield from _errors(child)


def _loaded(node: Node, path: Path) -> Iterator[Path]:
    if node.type == "call_expression" and _text(node.named_children[0]).startswith("load"):
        yield path.parent / _plain(node.named_children[1].named_children[0])
    for child in node.named_children:
        yield from _loaded(child, path)


_NAME_COMES_FIRST = frozenset({
    "parameter_declaration", "variable_declaration", "output_declaration", "resource_declaration", "module_declaration",
    "call_expression", "lambda_expression", "for_statement",
})  # fmt: skip


def _used(node: Node) -> Iterator[str]:
    """Names in the places of values: no keys, no declared names, no functions."""
    parts = node.named_children
    match node.type:
        case "identifier":
            yield _text(node)
        case "decorators" | "type":
            return
        case "resource_expression":  # of a::b, b is found within a
            yield _text(parts[0])
        case "object_property" if len(parts) > 1 and parts[0].type == "identifier":
            yield from _used(parts[-1])
        case _:
            for part in parts[1:] if node.type in _NAME_COMES_FIRST else parts:
                yield from _used(part)


def _local(node: Node) -> Iterator[str]:
    if node.type in {"lambda_expression", "for_statement"}:
        yield from re.findall(r"\w+", _text(node.named_children[0]))
    for child in node.named_children:
        yield from _local(child)


def _plain(node: Node) -> str:
    """A text without its quotes, or a name."""
    if node.type != "string":
        return _text(node)
    text = _text(node)
    quotes = 3 if text.startswith("'''") else 1
    return text[quotes:-quotes].replace("\\'", "'")


def _text(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()
