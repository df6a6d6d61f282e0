"""Refusals in the words of the service: status, sub-status, message ("HTTP status codes for Azure Cosmos DB")."""

from collections.abc import Mapping

NAMES = {
    304: "NotModified",
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    408: "RequestTimeout",
    409: "Conflict",
    410: "Gone",
    412: "PreconditionFailed",
    413: "RequestEntityTooLarge",
    429: "429",  # the service spells it so
    449: "RetryWith",
    500: "InternalServerError",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}

PARTITION_KEY_MISMATCH = 1001
READ_SESSION_NOT_AVAILABLE = 1002
PARTITION_KEY_RANGE_GONE = 1002
OWNER_NOT_FOUND = 1003
CROSS_PARTITION_QUERY_NOT_SERVABLE = 1004
COLLECTION_RID_MISMATCH = 1024


class CosmosError(Exception):
    """An answer other than success.

    `substatus` 0 means none; `headers` join the answer's headers; `detail` joins the members of its JSON body.
    """

    def __init__(
        self,
        status: int,
        message: str,
        substatus: int = 0,
        headers: Mapping[str, str] | None = None,
        detail: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.substatus = substatus
        self.headers = dict(headers or {})
        self.detail = dict(detail or {})


def bad_request(message: str, substatus: int = 0) -> CosmosError:
    return CosmosError(400, message, substatus)


def not_modified() -> CosmosError:
    return CosmosError(304, "")


def not_found() -> CosmosError:
    return CosmosError(404, "Entity with the specified id does not exist in the system.")


def owner_not_found() -> CosmosError:
    """The database or container that should hold the resource is missing."""
    return CosmosError(404, "Owner resource does not exist", OWNER_NOT_FOUND)


def session_not_available() -> CosmosError:
    """The caller has seen writes that this store has not."""
    message = "The read session is not available for the input session token."
    return CosmosError(404, message, READ_SESSION_NOT_AVAILABLE)


def conflict(message: str = "Entity with the specified id already exists in the system.") -> CosmosError:
    return CosmosError(409, message)


def precondition_failed() -> CosmosError:
    return CosmosError(412, "One of the specified pre-condition is not met")


def too_large() -> CosmosError:
    return CosmosError(413, "Request size is too large")


def wrong_partition_key(message: str) -> CosmosError:
    return CosmosError(400, message, PARTITION_KEY_MISMATCH)


def not_supported(what: str) -> CosmosError:
    """What the service can do and this stand-in cannot: said plainly, never answered with a fake success."""
    return CosmosError(501, f"{what} is not supported by the local stand-in for Azure Cosmos DB.")
