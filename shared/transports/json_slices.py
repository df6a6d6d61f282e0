"""JSON objects taken apart without losing how their values were written.

Parsing and writing anew would change numbers (19.990 to 19.99, long decimals through floats) and spacing; a slice of
the original text changes nothing.
"""

import json
import re
from dataclasses import dataclass

_SPACE = re.compile(r"[ \t\n\r]*")
"""White space as JSON knows it (RFC 8259, section 2)."""


@dataclass(frozen=True, slots=True)
class Members:
    """A JSON object taken apart: each member's value, and the exact text it was written with."""

    values: dict[str, object]
    texts: dict[str, str]


def objects_in(text: str) -> list[Members]:
    """The object a JSON text is, or the objects of the array it is. `ValueError` for anything else."""
    scan = _Scan(text)
    found: list[Members] = []
    if scan.take("["):
        while True:
            found.append(scan.members())
            if not scan.take(","):
                break
        scan.expect("]")
    else:
        found.append(scan.members())
    scan.end()
    return found


class _Scan:
    """A cursor over a JSON text. Values are skipped by the standard decoder; what stays is where they begin and end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._decoder = json.JSONDecoder()

    def members(self) -> Members:
        found = Members({}, {})
        self.expect("{")
        while not self.take("}"):
            if found.values:
                self.expect(",")
            name, _ = self._value()
            self.expect(":")
            value, written = self._value()
            if not isinstance(name, str) or name in found.values:
                raise ValueError("a member's name is repeated, or is no string")
            found.values[name], found.texts[name] = value, written
        return found

    def take(self, mark: str) -> bool:
        self._skip_space()
        if not self._text.startswith(mark, self._at):
            return False
        self._at += len(mark)
        return True

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise ValueError(f"{mark} expected at {self._at}")

    def end(self) -> None:
        self._skip_space()
        if self._at != len(self._text):
            raise ValueError("text after the end")

    def _value(self) -> tuple[object, str]:
        self._skip_space()
        begin = self._at
        value, self._at = self._decoder.raw_decode(self._text, begin)
        return value, self._text[begin : self._at]

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
