"""What makes two deliveries the same message.

The stored id of a marker is a digest over (version, consumer, source, identity): fixed in length, free of characters
that a store forbids, and injective, because every part is framed by its type and its length. Raw ids are kept as
fields for people and never become document ids.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from .errors import NoStableKey

type KeyPart = str | int | bytes | UUID
"""One part of an identity. Types are kept apart: the number 7 and the text "7" are two identities."""

_VERSION = b"1"
_NOT_AN_ID = frozenset({"none", "null"})
"""Texts that a JSON null turns into on its way through a worker (seen: 'None')."""
_LONGEST_TEXT = 256
"""Characters of a raw identity that people are shown; twice a Service Bus message id. The digest covers all of it."""


@dataclass(frozen=True, slots=True)
class DeduplicationKey:
    """Consumer plus message identity. Equal keys are the same message; anything else is not."""

    consumer: str
    """Name of the consumer: two consumers of one topic each process the message once."""
    source: str
    """Where the identity is unique."""
    identity: tuple[KeyPart, ...]
    """The parts that the producer promises to repeat on every copy."""

    digest: str = field(init=False, compare=False)
    """40 hexadecimal digits (160 bits of SHA-256): the marker's id in every store, and the key's name in logs."""

    def __post_init__(self) -> None:
        framed = [_VERSION, _frame(b"s", self.consumer.encode()), _frame(b"s", self.source.encode())]
        framed += [_frame(*_typed_bytes(part)) for part in self.identity]
        digest = hashlib.sha256(b"".join(framed)).hexdigest()[:40]
        object.__setattr__(self, "digest", digest)  # once: it is asked for at every step of a message

    @classmethod
    def of(cls, consumer: str, source: str, identity: object | Sequence[object]) -> "DeduplicationKey":
        """Build a key from one part or several. Raises `NoStableKey` when any part is missing or has no exact form."""
        parts = identity if isinstance(identity, (tuple, list)) else (identity,)
        if not parts:
            raise NoStableKey("The message declares no identity.")
        return cls(consumer, source, tuple(_part(part, position) for position, part in enumerate(parts, 1)))

    def __str__(self) -> str:
        return f"message {self.text} (consumer {self.consumer}, key {self.digest})"

    @property
    def text(self) -> str:
        """The raw identity for people: logs, marker fields, dead-letter descriptions. Shortened where it is long."""
        text = " ".join(part.hex() if isinstance(part, bytes) else str(part) for part in self.identity)
        return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def _part(value: object, position: int) -> KeyPart:
    """One usable part of an identity, or `NoStableKey` with the reason."""
    match value:
        case None | "" | b"":
            raise NoStableKey(f"Part {position} of the message's identity is missing.")
        case bool() | float():
            raise NoStableKey(f"Part {position} of the message's identity is a {type(value).__name__}, not an id.")
        case UUID(int=0):
            raise NoStableKey(f"Part {position} of the message's identity is the all-zero GUID.")
        case str() if _is_placeholder(value):
            raise NoStableKey(f"Part {position} of the message's identity is a placeholder, not an id.")
        case str() | int() | bytes() | UUID():
            return _encodable(value, position)
        case _:
            raise NoStableKey(f"Part {position} of the message's identity is a {type(value).__name__}, not an id.")


def _is_placeholder(text: str) -> bool:
    bare = text.strip().casefold()
    if not bare or bare in _NOT_AN_ID:
        return True
    digits = bare.strip("{}()").replace("-", "")
    return len(digits) == 32 and not digits.strip("0")


def _encodable(part: KeyPart, position: int) -> KeyPart:
    try:
        _typed_bytes(part)
    except UnicodeEncodeError:
        raise NoStableKey(f"Part {position} of the message's identity is not valid Unicode.") from None
    return part


def _typed_bytes(part: KeyPart) -> tuple[bytes, bytes]:
    """A part's type tag and its one canonical byte form."""
    match part:
        case str():
            return b"s", part.encode()
        case bytes():
            return b"b", part
        case UUID():
            return b"u", part.bytes
        case int():
            return b"i", b"%x" % part
    raise AssertionError(part)  # pragma: no cover - KeyPart is closed


def _frame(tag: bytes, data: bytes) -> bytes:
    return tag + b"%d:" % len(data) + data
