"""What came of a call to the SDK, as a value that tests can compare."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

type Operation = tuple[Any, ...]

ORDER = "1001"


@dataclass(frozen=True, slots=True)
class Refused:
    """The request as a whole was refused."""

    status: int
    substatus: int = 0


@dataclass(frozen=True, slots=True)
class BatchRefused:
    """One operation of a batch was refused."""

    index: int  # of the operation that the SDK blames
    codes: tuple[int, ...]  # of every operation


OK = "OK"


async def outcome(call: Awaitable[Any]) -> str | Refused | BatchRefused:
    try:
        await call
    except CosmosBatchOperationError as error:
        codes = tuple(result["statusCode"] for result in error.operation_responses)
        return BatchRefused(error.error_index, codes)
    except CosmosHttpResponseError as error:
        return Refused(error.status_code or 0, error.sub_status or 0)
    return OK


def document(id_: str, order: str = ORDER, **more: Any) -> dict[str, Any]:
    return {"id": id_, "orderId": order, **more}


def create(id_: str, order: str = ORDER, **more: Any) -> Operation:
    return ("create", (document(id_, order, **more),))


async def ids(container: ContainerProxy, order: str = ORDER) -> list[str]:
    """Ids of the live items in one partition."""
    query = "SELECT VALUE c.id FROM c"
    return sorted([id_ async for id_ in container.query_items(query, partition_key=order)])
