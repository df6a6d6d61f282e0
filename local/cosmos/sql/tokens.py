"""Text to tokens."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_CLAUSES = frozenset({"SELECT", "DISTINCT", "TOP", "VALUE", "FROM", "AS", "JOIN", "WHERE", "GROUP", "ORDER", "BY"})
_TAILS = frozenset({"ASC", "DESC", "OFFSET", "LIMIT"})
_OPERATORS = frozenset({"AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ESCAPE", "EXISTS", "ARRAY"})
KEYWORDS = _CLAUSES | _TAILS | _OPERATORS  # none of them can be an alias
_PATTERN = re.compile(
    r"""(?P<space>\s+|--[^\n]*)
      | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<parameter>@\w+)
      | (?P<name>[^\W\d]\w*)
      | (?P<mark><>|!=|<=|>=|\|\||\?\?|[=<>+\-*/%.,()\[\]{}?:&|^~!])""",
    re.VERBOSE,
)


class SyntaxFault(Exception):
    """The query is not valid; the message says where."""


class Sort(StrEnum):
    """What a token is."""

    NUMBER = "number"
    STRING = "string"
    PARAMETER = "parameter"
    NAME = "name"
    MARK = "mark"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a query."""

    sort: Sort
    text: str  # as written
    start: int  # where it begins in the query
    end: int  # where it ends

    @property
    def word(self) -> str:
        """Upper-case name, for keywords and functions; empty for other sorts."""
        return self.text.upper() if self.sort is Sort.NAME else ""

    def value(self) -> Any:
        """What a number or string literal stands for."""
        if self.sort is Sort.STRING:
            return _unquoted(self.text)
        if self.text[:2].lower() == "0x":
            return int(self.text, 16)
        return int(self.text) if self.text.isdecimal() else float(self.text)


def tokens(text: str) -> list[Token]:
    """All tokens and a last one of sort END."""
    found, position = [], 0
    while position < len(text):
        match = _PATTERN.match(text, position)
        if match is None or match.lastgroup is None:
            raise SyntaxFault(f"Syntax error, invalid token near '{text[position : position + 12]}'.")
        if match.lastgroup != "space":
            found.append(Token(Sort(match.lastgroup), match.group(), match.start(), match.end()))
        position = match.end()
    found.append(Token(Sort.END, "<end of query>", len(text), len(text)))
    return found


def _unquoted(text: str) -> str:
    body = text[1:-1]
    if text[0] == "'":
        body = re.sub(r'\\.|"', lambda m: {"\\'": "'", '"': '\\"'}.get(m.group(), m.group()), body)
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError:
        raise SyntaxFault(f"Syntax error, invalid string literal {text}.") from None
