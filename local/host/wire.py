"""What the host process and the worker process say to each other, and how it becomes bytes.

A frame is a 4-byte big-endian length followed by UTF-8 JSON. Each value below becomes an object tagged with its class
name; byte strings become base64 text, so a body travels byte for byte. The shapes mirror Microsoft's FunctionRpc.proto
(azure-functions-language-worker-protobuf): `TypedData`, `RpcHttp`, `InvocationRequest`, `InvocationResponse`.
"""

import base64
import dataclasses
import json
import struct
from typing import Any

# One length prefix; 4 bytes allow far more than the largest Service Bus message (100 MB, Premium).
LENGTH = struct.Struct(">I")


@dataclasses.dataclass(frozen=True, slots=True)
class TypedData:
    """One value on its way into or out of a function: exactly one field is set, or none for "no value"."""

    # Text, as .NET strings travel.
    string: str | None = None
    # Numbers, dates, dictionaries and arrays travel as JSON text.
    json: str | None = None
    # A body that must not be decoded.
    binary: bytes | None = None
    # An HTTP request (in) or response (out).
    http: "HttpData | None" = None
    # An array of texts (`CollectionString`), inward only; the host leaves out those that are empty.
    strings: tuple[str, ...] | None = None
    # An array of bodies (`CollectionBytes`), inward only.
    binaries: tuple[bytes, ...] | None = None
    # An array of 64-bit integers (`CollectionSInt64`), inward only.
    integers: tuple[int, ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class HttpData:
    """An HTTP request on its way in, or a response on its way out (`RpcHttp`)."""

    # Body; always bytes on the way in, because the worker declares RawHttpBodyBytes.
    body: TypedData
    # Header names in lower case on the way in.
    headers: dict[str, str]
    # Request only: GET, POST, …
    method: str = ""
    # Request only: the full address that was asked for.
    url: str = ""
    # Request only: route parameters.
    params: dict[str, str] = dataclasses.field(default_factory=dict)
    # Request only: query parameters.
    query: dict[str, str] = dataclasses.field(default_factory=dict)
    # Response only.
    status: int = 0
    # Response only: complete Set-Cookie values.
    cookies: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class RetryContext:
    """Which attempt an invocation is (`RetryContext`); all zero for a function without a retry policy."""

    # 0 for the first attempt.
    retry_count: int = 0
    # As in the policy; -1 never gives up.
    max_retry_count: int = 0
    # How the attempt before this one ended, as the worker worded it.
    error: str = ""
    # The worker's text of that traceback.
    stack_trace: str = ""


NO_RETRIES = RetryContext()
"""The context of an invocation that will not be retried."""


@dataclasses.dataclass(frozen=True, slots=True)
class RetryPolicy:
    """What `@app.retry` asks for (`RpcRetryOptions`); times in seconds."""

    # `fixed_delay` or `exponential_backoff`.
    strategy: str
    # -1 never gives up.
    max_retry_count: int
    # fixed_delay: pause before each retry.
    delay: float = 0.0
    # exponential_backoff: pause before the first retry.
    minimum: float = 0.0
    # exponential_backoff: the pauses grow up to this one.
    maximum: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Invoke:
    """Host to worker: run one function once."""

    # Names this invocation in logs and in its result.
    invocation_id: str
    # The worker's id of the function, as given in `Function.function_id`.
    function_id: str
    # Name of the trigger parameter.
    parameter: str
    # Value of the trigger parameter.
    value: TypedData
    # Trigger metadata by name, as the extension publishes it.
    metadata: dict[str, TypedData]
    # W3C trace context of the invocation.
    trace_parent: str
    # Which attempt this is.
    retry: RetryContext = NO_RETRIES


@dataclasses.dataclass(frozen=True, slots=True)
class Function:
    """One function as the worker indexed it."""

    # Stable across restarts: the worker derives it from the name.
    function_id: str
    name: str
    # Decorators as JSON texts, the worker's `raw_bindings`.
    raw_bindings: tuple[str, ...]
    # What `@app.retry` asks for, None without it.
    retry_policy: RetryPolicy | None


@dataclasses.dataclass(frozen=True, slots=True)
class Indexed:
    """Worker to host: the app was loaded."""

    functions: tuple[Function, ...]
    # What the worker says it can do; `HttpUri` means it wants requests proxied to a web server of its own.
    capabilities: dict[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class IndexingFailed:
    """Worker to host: the app could not be loaded; both texts are the worker library's own."""

    message: str
    stack_trace: str


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """Worker to host: how an invocation ended."""

    invocation_id: str
    # None after a normal return, else the exception as the worker worded it.
    error: str | None
    # The worker's text of the traceback, empty after a normal return.
    stack_trace: str = ""
    # What the function returned through its `$return` binding.
    returned: TypedData = TypedData()


@dataclasses.dataclass(frozen=True, slots=True)
class Log:
    """Worker to host: one logging record."""

    # Empty outside an invocation.
    invocation_id: str
    # Python's numeric level.
    level: int
    logger: str
    # Formatted message with its traceback, if any.
    message: str


type Frame = Invoke | Indexed | IndexingFailed | Result | Log

_CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        *(TypedData, HttpData, RetryContext, RetryPolicy),
        *(Invoke, Function, Indexed, IndexingFailed, Result, Log),
    )
}
_CLASS_KEY = "$class"
_BYTES_KEY = "$bytes"


def pack(frame: Frame) -> bytes:
    """The frame with its length prefix, ready to be written."""
    payload = json.dumps(_tagged(frame), separators=(",", ":")).encode()
    return LENGTH.pack(len(payload)) + payload


def unpack(payload: bytes) -> Frame:
    """The frame in a payload whose length prefix was already taken off."""
    frame: Frame = json.loads(payload, object_hook=_untagged)
    return frame


def _tagged(value: Any) -> Any:
    match value:
        case bytes():
            return {_BYTES_KEY: base64.b64encode(value).decode()}
        case dict():
            return {key: _tagged(item) for key, item in value.items()}
        case tuple():
            return [_tagged(item) for item in value]
        case _ if dataclasses.is_dataclass(value):
            fields = {field.name: _tagged(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return {_CLASS_KEY: type(value).__name__, **fields}
        case _:
            return value


def _untagged(value: dict[str, Any]) -> Any:
    if _BYTES_KEY in value:
        return base64.b64decode(value[_BYTES_KEY])
    if _CLASS_KEY not in value:
        return value
    cls = _CLASSES[value.pop(_CLASS_KEY)]
    return cls(**{name: tuple(item) if isinstance(item, list) else item for name, item in value.items()})
