"""What an answer of Cosmos DB means, or the lack of one. The only place that knows status codes.

Codes and classes decide, never the text of a message (Microsoft Learn, "HTTP status codes for Azure Cosmos DB" and
"Transactional batch operations"). Three questions, in this order: did a whole request fail or one operation in it; was
anything written; can time heal it.
"""

from collections.abc import Mapping
from typing import Any

from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosResourceNotFoundError

from ..idempotency import CommitConflict, Conflict, Doubtful, PreconditionFailed, TooLarge, TransientFailure

_SESSION_TOKEN = "x-ms-session-token"  # noqa: S105 - a header's name
_RETRY_AFTER = "x-ms-retry-after-ms"
_RETRY_AFTER_OF_OPERATION = "retryAfterMilliseconds"
_MILLISECONDS = 1000.0

_UNAUTHORISED, _TOO_LARGE = 401, 413
_NOT_EXECUTED = frozenset({401, 403, 404, 429, 449})
"""Turned away at the door, and let in later: throttled (429), another write of the same documents in flight (449), a
replica behind the session token (404/1002); or a person mends it while the messages wait: a key rolled, a role not yet
assigned, a firewall, a full partition, a container not yet made."""
_UNSETTLED = frozenset({408, 410})
"""Request timeout; gone, the partition was moving. Like a server error: executed or not, nobody can say."""
_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500


def is_absence(error: Exception) -> bool:
    """Whether a read was answered with "no such document".

    A missing container (1003), a replica that lags behind the session token (1002) and an identity endpoint that is not
    there are 404 as well; only the database's bare one says that the document is not there.
    """
    return isinstance(error, CosmosResourceNotFoundError) and not error.sub_status


def read_failure(error: Exception) -> TransientFailure | None:
    """What a failed read means; None where a programmer must look at the error itself."""
    if _is_final(status_of(error)):
        return None
    return TransientFailure(f"A read failed: {_told(error)}", retry_after=_retry_after(error))


def commit_failure(error: Exception, *, sent: bool) -> CommitConflict | TooLarge | TransientFailure | None:
    """What a failed commit means; None where a programmer must look at the error itself.

    `sent`: whether the commit left this process at all.
    """
    if isinstance(error, CosmosBatchOperationError):
        return _operation_failure(error)
    status = status_of(error)
    if status == _TOO_LARGE:
        return TooLarge("The database measured the commit, and its 2 MB do not hold it.")
    if _is_final(status):
        return None
    if sent and status not in _NOT_EXECUTED:
        return Doubtful(f"A commit may have happened or not: {_told(error)}", retry_after=_retry_after(error))
    return TransientFailure(f"A commit was not executed: {_told(error)}", retry_after=_retry_after(error))


def status_of(error: Exception) -> int:
    """The status code that decided: of the operation that failed, else of the whole request; 0 for no answer.

    Whoever gets no token is not let in: that the identity provider may call it a 400 changes nothing.
    """
    if isinstance(error, ClientAuthenticationError):
        return _UNAUTHORISED
    return error.status_code or 0 if isinstance(error, HttpResponseError) else 0


def _operation_failure(error: CosmosBatchOperationError) -> CommitConflict | TooLarge | TransientFailure | None:
    """One operation was refused, and with it the batch: whatever the code, nothing was written."""
    index: int = error.error_index
    match status_of(error):
        case 409:
            bookmark = error.headers.get(_SESSION_TOKEN)
            return Conflict(f"Operation {index} met a document that is there.", index=index, bookmark=bookmark)
        case 412 | 404:
            bookmark = error.headers.get(_SESSION_TOKEN)
            return PreconditionFailed(f"Operation {index} met another version.", index=index, bookmark=bookmark)
        case 413:
            return TooLarge(f"The database measured operation {index}, and its 2 MB do not hold it.")
        case status if _is_final(status):
            return None
    return TransientFailure(f"Operation {index} of a commit failed: {_told(error)}", retry_after=_retry_after(error))


def _is_final(status: int) -> bool:
    """Whether the database refused for good. No answer is not final, nor is a broken answer to a success."""
    if status in _NOT_EXECUTED or status in _UNSETTLED:
        return False
    return _FIRST_ERROR <= status < _FIRST_SERVER_ERROR


def _sub_status(error: Exception) -> int:
    return getattr(error, "sub_status", None) or 0


def _retry_after(error: Exception) -> float | None:
    """Seconds that the database asked us to wait: said for one operation, or for the whole request."""
    if isinstance(error, CosmosBatchOperationError):
        operation: Mapping[str, Any] = error.operation_responses[error.error_index]
        if milliseconds := operation.get(_RETRY_AFTER_OF_OPERATION):
            return float(milliseconds) / _MILLISECONDS
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    milliseconds = headers.get(_RETRY_AFTER)
    return float(milliseconds) / _MILLISECONDS if milliseconds else None


def _told(error: Exception) -> str:
    """For a person. A message of the database may quote a document, so its codes must do."""
    status = status_of(error)
    return f"status {status}/{_sub_status(error)}." if status else f"no answer ({type(error).__name__})."
