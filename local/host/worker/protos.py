"""The few protobuf messages azure-functions-runtime builds or reads, as plain classes.

Production hands the library its generated FunctionRpc_pb2, which is on no package index. The library only asks for the
names in here, so these classes stand in its place: an unknown field fails, and a `TypedData` field of the wrong type
fails where protobuf would. Names and field names are Microsoft's (FunctionRpc.proto).
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(slots=True)
class RpcException:
    message: str = ""
    stack_trace: str = ""
    source: str = ""


@dataclass(slots=True)
class StatusResult:
    Failure: ClassVar[int] = 0
    Success: ClassVar[int] = 1
    status: int = 0
    exception: RpcException | None = None


@dataclass(slots=True)
class WorkerMetadata:
    runtime_name: str
    runtime_version: str
    worker_version: str
    worker_bitness: str
    custom_properties: dict[str, str]


@dataclass(slots=True)
class WorkerInitRequest:
    capabilities: dict[str, str]
    function_app_directory: str


@dataclass(slots=True)
class WorkerInitResponse:
    capabilities: dict[str, str]
    worker_metadata: WorkerMetadata
    result: StatusResult


@dataclass(slots=True)
class BindingInfo:
    undefined: ClassVar[int] = 0
    out: ClassVar[int] = 1
    inout: ClassVar[int] = 2
    type: str
    data_type: Any
    direction: Any


@dataclass(slots=True)
class RpcRetryOptions:
    max_retry_count: int
    retry_strategy: str
    delay_interval: Any = None
    minimum_interval: Any = None
    maximum_interval: Any = None


@dataclass(slots=True)
class RpcFunctionMetadata:
    name: str
    function_id: str
    managed_dependency_enabled: bool
    directory: str
    script_file: str
    entry_point: str
    is_proxy: bool
    language: str
    bindings: dict[str, BindingInfo]
    raw_bindings: list[str]
    retry_options: RpcRetryOptions | None
    properties: dict[str, str]


@dataclass(slots=True)
class FunctionMetadataResponse:
    use_default_metadata_indexing: bool
    function_metadata_results: list[RpcFunctionMetadata] | None
    result: StatusResult


@dataclass(slots=True)
class FunctionLoadRequest:
    function_id: str
    metadata: RpcFunctionMetadata


@dataclass(slots=True)
class FunctionLoadResponse:
    function_id: str
    result: StatusResult


@dataclass(slots=True)
class NullableString:
    value: str


@dataclass(slots=True)
class NullableBool:
    value: bool


@dataclass(slots=True)
class NullableDouble:
    value: float


@dataclass(slots=True)
class Timestamp:
    seconds: int


@dataclass(slots=True)
class NullableTimestamp:
    value: Timestamp


@dataclass(slots=True)
class RpcHttpCookie:
    # A member called None cannot be written as an attribute, but it is what the library asks for by name.
    SameSite: ClassVar[Any] = type("SameSite", (), {"None": 0, "Lax": 1, "Strict": 2, "ExplicitNone": 3})
    name: str
    value: str
    domain: NullableString | None
    path: NullableString | None
    expires: NullableTimestamp | None
    secure: NullableBool | None
    http_only: NullableBool | None
    same_site: int
    max_age: NullableDouble | None


@dataclass(slots=True)
class RpcHttp:
    body: "TypedData"
    headers: dict[str, str] = field(default_factory=dict)
    method: str = ""
    url: str = ""
    params: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    status_code: str = ""
    cookies: list[RpcHttpCookie] | None = None
    enable_content_negotiation: bool = False


@dataclass(slots=True)
class CollectionString:
    string: list[str]


@dataclass(slots=True)
class CollectionBytes:
    bytes: "list[bytes]"


@dataclass(slots=True)
class CollectionSInt64:
    sint64: list[int]


@dataclass(slots=True)
class TypedData:
    TYPES: ClassVar[dict[str, type | tuple[type, ...]]] = {
        "string": str,
        "json": str,
        "bytes": bytes,
        "int": int,
        "double": (int, float),
        "http": RpcHttp,
        "collection_string": CollectionString,
        "collection_bytes": CollectionBytes,
        "collection_sint64": CollectionSInt64,
    }
    string: str | None = None
    json: str | None = None
    bytes: Any = None
    int: Any = None
    double: float | None = None
    http: RpcHttp | None = None
    collection_string: CollectionString | None = None
    collection_bytes: CollectionBytes | None = None
    collection_sint64: CollectionSInt64 | None = None

    def __post_init__(self) -> None:
        for name, expected in self.TYPES.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, expected):
                raise TypeError(f"bad argument type for TypedData.{name}: {type(value).__name__}")

    def WhichOneof(self, _group: str) -> str | None:
        return next((name for name in self.TYPES if getattr(self, name) is not None), None)


@dataclass(slots=True)
class ParameterBinding:
    name: str
    data: TypedData | None

    def WhichOneof(self, _group: str) -> str:
        return "data"


@dataclass(slots=True)
class RpcTraceContext:
    trace_parent: str
    trace_state: str
    attributes: dict[str, str]


@dataclass(slots=True)
class RetryContext:
    retry_count: int
    max_retry_count: int
    exception: RpcException


@dataclass(slots=True)
class InvocationRequest:
    invocation_id: str
    function_id: str
    input_data: list[ParameterBinding]
    trigger_metadata: dict[str, TypedData]
    trace_context: RpcTraceContext
    retry_context: RetryContext


@dataclass(slots=True)
class InvocationResponse:
    invocation_id: str
    result: StatusResult
    return_value: TypedData | None = None
    output_data: list[ParameterBinding] = field(default_factory=list)
