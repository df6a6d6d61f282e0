"""Items over HTTP: point reads, single writes, transactional batches."""

from typing import Any

from . import charges, partition_keys
from .container import Container
from .errors import CosmosError, bad_request, not_found, not_modified, session_not_available, wrong_partition_key
from .exchange import Exchange, Reply
from .identifiers import document_number, is_database_rid
from .item import Item, compact
from .operations import Applied, Kind, Operation
from .store import FAILED_DEPENDENCY, Batch, Store

MAX_BATCH_OPERATIONS = 100  # "Azure Cosmos DB service quotas": operations in a transactional batch
_WRONG_SHAPE = (
    "Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key "
    "field values specified in the document."
)


class ItemRoutes:
    """Requests under …/docs that name a partition key."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def item(self, exchange: Exchange, container: Container) -> Reply:
        """GET, PUT, PATCH or DELETE of one item."""
        if exchange.verb not in Kind:
            raise CosmosError(405, f"An item does not take the method {exchange.method}.")
        kind = Kind(exchange.verb)
        partition_key = required_partition_key(exchange, container)
        operation = Operation(
            kind=kind,
            id=self._addressed(exchange, container, partition_key),
            document=None if kind in (Kind.READ, Kind.DELETE) else exchange.json(),
            if_match=exchange.headers.get("if-match"),
            if_none_match=exchange.headers.get("if-none-match"),
        )
        return self._carry_out(exchange, container, partition_key, operation)

    def create(self, exchange: Exchange, container: Container) -> Reply:
        """POST of a document: create or upsert."""
        operation = Operation(
            kind=Kind(exchange.verb),
            document=exchange.json(),
            if_match=exchange.headers.get("if-match"),
            if_none_match=exchange.headers.get("if-none-match"),
        )
        return self._carry_out(exchange, container, required_partition_key(exchange, container), operation)

    def batch(self, exchange: Exchange, container: Container) -> Reply:
        """POST of a transactional batch: 200 and all done, or 207 and nothing done."""
        bodies = exchange.json()
        if not isinstance(bodies, list) or not bodies:
            raise bad_request("Batch request has no operations.")
        if len(bodies) > MAX_BATCH_OPERATIONS:
            raise bad_request("Batch request has more operations than what is supported.")
        operations = [_operation(body) for body in bodies]
        partition_key = required_partition_key(exchange, container)
        range_id = container.range_of(partition_key).id
        if any(operation.kind is Kind.READ for operation in operations):
            check_session(self._store, exchange, container)
        batch = _refused_on_demand(exchange, operations) or self._store.batch(container, partition_key, operations)
        exchange.stamp(container, self._store.position(container, range_id))
        results = [
            _result(exchange, container, operation, result)
            for operation, result in zip(operations, batch.results, strict=True)
        ]
        exchange.charge = sum(result["requestCharge"] for result in results)
        return Reply(200 if batch.committed else 207, _joined(results))

    def delete_partition(self, exchange: Exchange, container: Container) -> Reply:
        """Delete all items with one partition key; done at once here, in the background by the service."""
        self._store.delete_partition(container, required_partition_key(exchange, container))
        return Reply(200)

    def _addressed(self, exchange: Exchange, container: Container, partition_key: str) -> str:
        segment = exchange.segments[5]
        if not is_database_rid(exchange.segments[1]):
            return segment
        item = self._store.items.by_number(container, partition_key, document_number(segment))
        if item is None:
            raise not_found()
        return item.id

    def _carry_out(self, exchange: Exchange, container: Container, partition_key: str, operation: Operation) -> Reply:
        range_id = container.range_of(partition_key).id
        # Refusals carry the position too: a client that met a conflict reads on from there.
        exchange.stamp(container, self._store.position(container, range_id))
        if operation.kind is Kind.READ:
            check_session(self._store, exchange, container)
            applied = self._store.read(container, partition_key, operation)
            exchange.charge = charges.read(_size(applied.item))
        else:
            applied = self._store.write(container, partition_key, operation)
            exchange.charge = charges.write(_size(applied.item))
        exchange.stamp(container, self._store.position(container, range_id))
        if applied.item is None:
            return Reply(applied.status)
        exchange.answer_headers["etag"] = applied.item.etag
        exchange.answer_headers["x-ms-item-lsn"] = str(applied.item.lsn)
        if applied.status == 304:
            raise not_modified()
        hidden = exchange.wants_no_body and operation.kind is not Kind.READ
        return Reply(applied.status, "" if hidden else applied.item.rendered(container))


def required_partition_key(exchange: Exchange, container: Container) -> str:
    """The canonical partition key that the request names. CosmosError 400 where it is missing or of a wrong shape."""
    components = exchange.partition_key_components()
    if components is None:
        raise bad_request("PartitionKey value must be supplied for this operation.")
    if not components:  # the wire's other spelling of "no value at all"
        components = [partition_keys.UNDEFINED_COMPONENT] * len(container.partition_paths)
    if len(components) != len(container.partition_paths):
        raise wrong_partition_key(_WRONG_SHAPE)
    return partition_keys.canonical(components)


def check_session(store: Store, exchange: Exchange, container: Container) -> None:
    """CosmosError 404/1002 if the client has seen writes that this store has not; 400 for a token that is none."""
    known = {one.id for one in container.ranges}
    for part in filter(None, exchange.headers.get("x-ms-session-token", "").split(",")):
        range_id, _, token = part.partition(":")
        version_and_lsn = token.split("#")
        if len(version_and_lsn) < 2 or not version_and_lsn[1].isdecimal():
            raise bad_request(f"The session token provided '{part}' is invalid.")
        if range_id in known and int(version_and_lsn[1]) > store.position(container, range_id).lsn:
            raise session_not_available()


def _operation(body: Any) -> Operation:
    if not isinstance(body, dict) or body.get("operationType") not in Kind:
        raise bad_request("A batch operation has no operation type, or one that is not known.")
    if not isinstance(body.get("id"), str | None):
        raise bad_request("The id of a batch operation is no string.")
    return Operation(
        kind=Kind(body["operationType"]),
        id=body.get("id"),
        document=body.get("resourceBody"),
        if_match=body.get("ifMatch"),
        if_none_match=body.get("ifNoneMatch"),
    )


def _refused_on_demand(exchange: Exchange, operations: list[Operation]) -> Batch | None:
    fault = exchange.fault
    if fault is None or fault.operation_index is None or fault.status is None:
        return None
    results: list[Applied | CosmosError | None] = [None] * len(operations)
    results[fault.operation_index] = CosmosError(fault.status, "Injected by a fault.", fault.substatus)
    return Batch(False, tuple(results))


def _result(
    exchange: Exchange, container: Container, operation: Operation, result: Applied | CosmosError | None
) -> dict[str, Any]:
    match result:
        case None:
            return {"statusCode": FAILED_DEPENDENCY, "requestCharge": 0.0}
        case CosmosError():
            refused: dict[str, Any] = {"statusCode": result.status, "requestCharge": charges.REFUSED}
            return {**refused, "subStatusCode": result.substatus} if result.substatus else refused
    is_read = operation.kind is Kind.READ
    charge = charges.read(_size(result.item)) if is_read else charges.write(_size(result.item))
    done: dict[str, Any] = {"statusCode": result.status, "requestCharge": round(charge, 2)}
    if result.item is None:
        return done
    done["eTag"] = result.item.etag
    shows_body = is_read or not exchange.wants_no_body
    if result.status != 304 and shows_body:
        done["resourceBody"] = result.item.rendered(container)
    return done


def _joined(results: list[dict[str, Any]]) -> str:
    """The JSON array; bodies are JSON texts already and are not printed twice."""
    parts = []
    for result in results:
        body = result.pop("resourceBody", None)
        text = compact(result)
        parts.append(text if body is None else f'{text[:-1]},"resourceBody":{body}}}')
    return f"[{','.join(parts)}]"


def _size(item: Item | None) -> int:
    return 0 if item is None else item.size
