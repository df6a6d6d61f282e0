"""One request and what its answer will carry, whether it succeeds or is refused."""

import contextlib
import json
import math
from dataclasses import dataclass
from typing import Any, Never
from urllib.parse import unquote

from aiohttp import web

from . import charges
from .container import Container
from .errors import CosmosError, bad_request, too_large
from .faults import Fault, RequestSummary
from .partition_keys import UNDEFINED_COMPONENT
from .store import Position

PARTITION_KEY = "x-ms-documentdb-partitionkey"
PARTITION_KEY_RANGE = "x-ms-documentdb-partitionkeyrangeid"
MAX_REQUEST_BYTES = 2 * 1024 * 1024  # "Azure Cosmos DB service quotas": request size, also of a transactional batch
_RESOURCE_NAMES = {
    "": "Account",
    "dbs": "Database",
    "colls": "Container",
    "pkranges": "PartitionKeyRanges",
    "offers": "Offer",
    "docs": "",
}
_VERBS = {"PUT": "Replace", "PATCH": "Patch", "DELETE": "Delete"}


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer."""

    status: int
    body: str = ""  # JSON text


class Exchange:
    """The request in the terms of the service, and the headers and the charge its answer collects on the way."""

    def __init__(self, request: web.Request, body: bytes) -> None:
        path = request.raw_path.partition("?")[0]
        self.segments = [unquote(segment) for segment in path.split("/") if segment]
        self.method = request.method
        self.headers = request.headers
        self.body = body
        self.base_url = f"{request.scheme}://{request.host}/"
        self.resource = self._resource()
        self.verb = self._verb()
        self.fault: Fault | None = None  # the one this request meets, if any
        self.answer_headers: dict[str, str] = {}
        self.charge = charges.REFUSED  # until something better is known
        self._parsed: Any = None

    def flag(self, header: str) -> bool:
        return bool(self.headers.get(header, "").lower() == "true")

    @property
    def wants_no_body(self) -> bool:
        return bool(self.headers.get("prefer", "") == "return=minimal")

    def json(self) -> Any:
        """The body as JSON, its size checked. CosmosError 413 or 400."""
        if len(self.body) > MAX_REQUEST_BYTES:
            raise too_large()
        if self._parsed is None:
            try:
                self._parsed = json.loads(self.body, parse_constant=_no_constant, parse_float=_finite)
            except (ValueError, RecursionError):
                raise bad_request("The request body is not valid JSON.") from None
        return self._parsed

    def partition_key_components(self) -> list[Any] | None:
        """The components of the partition key header; None where it is absent."""
        header = self.headers.get(PARTITION_KEY)
        if header is None:
            return None
        try:
            components = json.loads(header)
        except ValueError:
            components = None
        if not isinstance(components, list) or not all(map(_is_component, components)):
            raise bad_request("The partition key header is not a JSON array of scalars.")
        return components

    def summary(self) -> RequestSummary:
        """What faults and the log go by. Never raises: a malformed request is refused later, by its handler."""
        on_items = self.resource == "docs"
        in_container = self.segments[2:3] == ["colls"] and len(self.segments) > 3
        components, operations = None, 1
        with contextlib.suppress(CosmosError):
            components = self.partition_key_components()
            body = self.json() if self.verb == "Batch" else None
            operations = len(body) if isinstance(body, list) else 1
        return RequestSummary(
            operation=f"{self.verb}{_RESOURCE_NAMES.get(self.resource, self.resource)}",
            on_items=on_items,
            container=self.segments[3] if in_container else None,
            partition_key=components,
            operations=operations,
        )

    def stamp(self, container: Container, *positions: Position) -> None:
        """Say in the answer where in the logs of the container's key ranges it stands."""
        self.answer_headers["x-ms-alt-content-path"] = container.path
        self.answer_headers["x-ms-content-path"] = container.rid
        if positions:
            self.answer_headers["x-ms-session-token"] = ",".join(position.session_token for position in positions)
        if len(positions) == 1:
            self.answer_headers["lsn"] = str(positions[0].lsn)
            self.answer_headers[PARTITION_KEY_RANGE] = positions[0].range_id

    def _resource(self) -> str:
        count = len(self.segments)
        if self.segments[4:5] == ["operations"]:
            return "colls"
        return "" if count == 0 else self.segments[-1] if count % 2 else self.segments[-2]

    def _verb(self) -> str:
        match self.method:
            case "POST":
                return self._verb_of_post()
            case "GET" if self.headers.get("A-IM") and self.resource == "docs":
                return "ChangeFeed"
            case "GET":
                return "ReadFeed" if self.resource == "docs" and len(self.segments) % 2 else "Read"
        return _VERBS.get(self.method, self.method)

    def _verb_of_post(self) -> str:
        if self.segments[4:5] == ["operations"]:
            return "DeletePartition"
        if self.flag("x-ms-cosmos-is-batch-request"):
            return "Batch"
        if self.flag("x-ms-cosmos-is-query-plan-request"):
            return "QueryPlan"
        if self.headers.get("content-type", "").startswith("application/query") or self.flag("x-ms-documentdb-isquery"):
            return "Query"
        return "Upsert" if self.flag("x-ms-documentdb-is-upsert") else "Create"


def _is_component(value: Any) -> bool:
    return value is None or value == UNDEFINED_COMPONENT or isinstance(value, bool | int | float | str)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} does not fit into a double")
    return number


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")
