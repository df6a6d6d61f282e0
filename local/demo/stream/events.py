"""Events as they are sent: movements, their copies, and every kind of event that has to be parked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from ..producers import UNSTABLE_IDS, body, body_cut_off, body_written_anew
from .movements import SKUS, Movement

LARGEST_BODY = 256 * 1024
"""Bytes that the app reads; a hub takes events of four times that."""


class Fate(StrEnum):
    """What has to become of an event. All but the first two are the reasons it is parked for."""

    PROCESSED = "processed"
    ABSORBED = "absorbed by its marker"
    FINGERPRINT_MISMATCH = "FingerprintMismatch"
    IDENTITY_MISMATCH = "IdentityMismatch"
    MALFORMED = "Malformed"
    NO_STABLE_KEY = "NoStableKey"
    TOO_LARGE = "TooLarge"

    @property
    def is_parked(self) -> bool:
        """Whether a person has to look at it."""
        return self not in (Fate.PROCESSED, Fate.ABSORBED)


@dataclass(frozen=True, slots=True)
class Event:
    """One event to send."""

    key: str | None
    """Its partition key: the article. None sends it to any partition."""
    message_id: str | None
    """Its message id."""
    body: bytes
    """Its body."""
    fate: Fate
    """What has to become of it."""


def first(movement: Movement) -> Event:
    """The event that takes effect."""
    return Event(movement.sku, movement.movement_id, body(movement.as_json()), Fate.PROCESSED)


def again(movement: Movement) -> Event:
    """The same movement as the sender's retry tells it."""
    return Event(movement.sku, movement.movement_id, body_written_anew(movement.as_json()), Fate.ABSORBED)


def reused(movement: Movement) -> Event:
    """Another movement under an id that is taken."""
    return Event(movement.sku, movement.movement_id, body(movement.altered().as_json()), Fate.FINGERPRINT_MISMATCH)


def _cut_off(movement: Movement) -> Event:
    return replace(first(movement), body=body_cut_off(movement.as_json()), fate=Fate.MALFORMED)


def _nowhere(movement: Movement) -> Event:
    members = movement.as_json()
    del members["warehouse"]
    return replace(first(movement), body=body(members), fate=Fate.MALFORMED)


def _of_nothing(movement: Movement) -> Event:
    return replace(first(movement), body=body(movement.as_json() | {"quantity": "0"}), fate=Fate.MALFORMED)


def _of_other_article(movement: Movement) -> Event:
    other = next(sku for sku in SKUS if sku != movement.sku)
    return replace(first(replace(movement, sku=other)), key=movement.sku, fate=Fate.IDENTITY_MISMATCH)


def _under_other_id(movement: Movement) -> Event:
    return replace(first(movement), message_id=f"{movement.movement_id}-again", fate=Fate.IDENTITY_MISMATCH)


def _identified_by(message_id: str | None, movement: Movement) -> Event:
    return replace(first(movement), message_id=message_id, fate=Fate.NO_STABLE_KEY)


def _keyless(movement: Movement) -> Event:
    return replace(first(movement), key=None, fate=Fate.NO_STABLE_KEY)


def _inflated(movement: Movement) -> Event:
    event = first(movement)
    return replace(event, body=event.body.ljust(LARGEST_BODY + 1), fate=Fate.TOO_LARGE)  # JSON, with blanks behind


MISFITS: Sequence[Callable[[Movement], Event]] = (
    _cut_off,
    _nowhere,
    _of_nothing,
    _of_other_article,
    _under_other_id,
    *(partial(_identified_by, message_id) for message_id in (None, *UNSTABLE_IDS)),
    _keyless,
    _inflated,
)
"""Makes an event that has to be parked of a movement that no other event tells of."""
