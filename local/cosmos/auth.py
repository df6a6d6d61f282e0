"""Master-key signatures ("Access control in the Azure Cosmos DB SQL API")."""

import base64
import binascii
import email.utils
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from .errors import CosmosError
from .identifiers import is_database_rid

# The key that Microsoft publishes for its emulator; it protects nothing and every tool knows it.
EMULATOR_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
_ALLOWED_SKEW_SECONDS = 15 * 60  # a signature older or younger than this is refused


def verify(key: str, method: str, resource: str, segments: Sequence[str], headers: Mapping[str, str]) -> None:
    """CosmosError 401 unless the request is signed with `key`, 403 if it was signed at another time."""
    token = dict(part.partition("=")[::2] for part in unquote(headers.get("authorization", "")).split("&"))
    date = headers.get("x-ms-date", "")
    link = _link(segments)
    text = f"{method.lower()}\n{resource}\n{link}\n{date.lower()}\n{headers.get('date', '').lower()}\n"
    digest = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    if token.get("type") != "master" or not hmac.compare_digest(_bytes(token.get("sig", "")), digest):
        raise CosmosError(
            401,
            "The input authorization token can't serve the request. The wrong key is being used or the expected "
            f"payload is not built as per the protocol. Server used the following payload to sign: '{text!r}'",
        )
    # Signatures bear the wall clock of the client, so they are held against the wall clock, not the advanced one.
    if abs(_timestamp(date or headers.get("date", "")) - time.time()) > _ALLOWED_SKEW_SECONDS:
        raise CosmosError(403, "The authorization token is not valid at the current time.")


def _link(segments: Sequence[str]) -> str:
    """The signed link: of the resource itself, or of the parent where the path ends in a kind of resource."""
    is_partition_delete = segments[4:5] == ["operations"]
    kept = segments[:4] if is_partition_delete else segments if len(segments) % 2 == 0 else segments[:-1]
    by_rid = bool(kept) and (kept[0] != "dbs" or is_database_rid(kept[1]))
    return kept[-1].lower() if by_rid else "/".join(kept)


def _bytes(signature: str) -> bytes:
    try:
        return base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _timestamp(date: str) -> float:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        raise CosmosError(401, "The request carries no valid x-ms-date header.") from None
