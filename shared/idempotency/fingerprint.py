"""A versioned hash of what a message says, to tell a second delivery from a reused id.

JSON bodies are brought to one exact form first, so that key order, white space and the spelling of numbers (10, 10.0,
1e1) make no difference while the smallest difference in a value does. No float is ever involved. What has no exact
JSON form is hashed as raw bytes instead, and the form is stored with the hash.
"""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

_VERSION = 1
_MAX_DEPTH = 64
"""Deeper nesting is hashed raw: a fixed bound, because Python's own one depends on how deep the caller stands."""


class Form(StrEnum):
    """What was hashed."""

    JSON = "json"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The print of one body. Equal JSON values have equal prints; other values have others."""

    form: Form
    """Whether the canonical JSON form or the raw bytes were hashed."""
    hash: str
    """SHA-256 in hexadecimal."""
    version: int = _VERSION
    """Version of the canonical form; prints of different versions are never equal."""

    @classmethod
    def of(cls, body: bytes) -> "Fingerprint":
        """The fingerprint of a body of any kind; raises nothing."""
        try:
            return cls(Form.JSON, hashlib.sha256(_canonical(body)).hexdigest())
        except (ValueError, RecursionError):  # not JSON, or JSON without one exact form; both are hashed as they are
            return cls(Form.RAW, hashlib.sha256(body).hexdigest())

    def __str__(self) -> str:
        return f"{self.form}.v{self.version}:{self.hash}"

    @classmethod
    def from_text(cls, text: str) -> "Fingerprint":
        """Read what `str()` wrote. Raises `ValueError` for any other text."""
        kind, _, digest = text.partition(":")
        form, _, version = kind.partition(".v")
        return cls(Form(form), digest, int(version))


class _Number(str):
    """A number's canonical text, kept apart from strings."""

    __slots__ = ()


def _canonical(body: bytes) -> bytes:
    """The one byte form of a JSON text. `ValueError` (or `RecursionError`) where there is none."""
    value = json.loads(
        body.decode(), parse_int=_number, parse_float=_number, parse_constant=_refuse, object_pairs_hook=_object
    )
    written: list[str] = []
    _write(value, written, 0)
    return "".join(written).encode()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object's members; a repeated name has no agreed meaning (RFC 8259, section 4), so it has no exact form."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated member name")
    return members


def _number(literal: str) -> _Number:
    """Sign, digits without zeros at either end, power of ten: one text per value, however many digits it has."""
    mantissa, _, power = literal.lower().partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return _Number("0")
    exponent = int(power or 0) - len(fraction) + len(digits) - len(significant)
    return _Number(f"{sign}{significant}e{exponent}")


def _write(value: object, out: list[str], depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    match value:
        case _Number():
            out.append(value)
        case dict():
            out.append("{")
            for name in sorted(value):
                out += (json.dumps(name, ensure_ascii=False), ":")
                _write(value[name], out, depth + 1)
                out.append(",")
            out.append("}")
        case list():
            out.append("[")
            for item in value:
                _write(item, out, depth + 1)
                out.append(",")
            out.append("]")
        case _:
            out.append(json.dumps(value, ensure_ascii=False))
