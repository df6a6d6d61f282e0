"""What the sample domain's messages have in common: exact reading, and refusals that quote no content."""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, NoReturn, Self

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from ..idempotency import Malformed

ID = re.compile(r"\A(?!marker-)[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
"""Business ids become document ids and partition keys: short, without the characters that stores forbid, and never
one of those that belong to markers."""
_MOST_FAULTS = 10
"""Faults that a description names; whoever fixes ten sees the rest."""

type Id = Annotated[str, Field(pattern=ID)]


def _moment(value: object) -> object:
    """A moment is written as ISO 8601 text; anything else is left for the validation to refuse."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise PydanticCustomError("moment", "Input should be an ISO 8601 date and time") from None


type Moment = Annotated[AwareDatetime, BeforeValidator(_moment)]


def _items(value: object) -> object:
    """JSON knows lists only; the model keeps them as tuples, which cannot change."""
    return tuple(value) if isinstance(value, list) else value


_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?\Z", re.ASCII)
"""A decimal number as text: nothing of what else `Decimal` would read."""


def _exact(value: object) -> object:
    """A number is written as a JSON number or, safe from readers that know floats only, as text."""
    match value:
        case Decimal():
            return value
        case int() if not isinstance(value, bool):
            return Decimal(value)
        case str() if _NUMBER.match(value):
            return Decimal(value)
    raise PydanticCustomError("number", "Input should be a decimal number")


type Exact = Annotated[Decimal, BeforeValidator(_exact)]
type Items[T] = Annotated[tuple[T, ...], BeforeValidator(_items)]


class Message(BaseModel):
    """A message body: exactly the declared members in exactly their types, in camelCase."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", alias_generator=to_camel, regex_engine="python-re"
    )

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Read a JSON body. Numbers keep every digit. Raises `Malformed` with the places of the faults, no values."""
        try:
            # pydantic's own JSON parser takes fractions through a float, and the last of two equal names.
            members = json.loads(
                body.decode(), parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_without_repeats
            )
        except (ValueError, RecursionError) as error:
            raise Malformed("The body is not one JSON text in UTF-8 with unique member names.") from error
        try:
            return cls.model_validate(members)
        except ValidationError as error:
            raise Malformed(_faults(error)) from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _without_repeats(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated member name")
    return members


def _faults(error: ValidationError) -> str:
    """Where and what, one fault after the other."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    named = "; ".join(f"{_place(fault['loc'])}: {fault['msg']}" for fault in faults[:_MOST_FAULTS])
    more = len(faults) - _MOST_FAULTS
    return f"{named}; and {more} more" if more > 0 else named


def _place(location: Sequence[int | str]) -> str:
    return ".".join(map(str, location)) or "body"
