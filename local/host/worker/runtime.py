"""Drives azure-functions-runtime as production's proxy worker does: init, metadata, load, then one task a request."""

import logging
from types import SimpleNamespace

import azure_functions_runtime as library

from local.host import wire

from . import convert, protos

# Loggers of the machinery itself. Production keeps their records out of the app's log stream.
_SYSTEM_LOGGERS = ("azure.functions", "azure_functions_runtime")


async def index(app_dir: str) -> wire.Indexed | wire.IndexingFailed:
    """Loads the app with the library's own indexing and says what it found, or the library's own error."""
    library.start_threadpool_executor()
    request = SimpleNamespace(worker_init_request=protos.WorkerInitRequest({}, app_dir))
    loaded = await library.worker_init_request(_request(request, protos=protos, host="127.0.0.1"))
    if loaded.result.status != protos.StatusResult.Success:
        return _failure(loaded.result)
    described = await library.functions_metadata_request(_request(SimpleNamespace()))
    functions = described.function_metadata_results
    if not functions:
        return wire.IndexingFailed(f"No functions found: {app_dir} has no function_app.py with functions in it.", "")
    for metadata in functions:
        load = SimpleNamespace(function_load_request=protos.FunctionLoadRequest(metadata.function_id, metadata))
        answer = await library.function_load_request(_request(load))
        if answer.result.status != protos.StatusResult.Success:
            return _failure(answer.result)
    return wire.Indexed(tuple(_function(metadata) for metadata in functions), dict(loaded.capabilities))


async def invoke(request: wire.Invoke) -> wire.Result:
    """Runs one invocation to its end; whatever the function raises becomes the result's error."""
    library.invocation_id_cv.set(request.invocation_id)
    message = protos.InvocationRequest(
        invocation_id=request.invocation_id,
        function_id=request.function_id,
        input_data=[protos.ParameterBinding(request.parameter, convert.to_library(request.value))],
        trigger_metadata={name: convert.to_library(value) for name, value in request.metadata.items()},
        trace_context=protos.RpcTraceContext(request.trace_parent, "", {}),
        retry_context=protos.RetryContext(
            request.retry.retry_count,
            request.retry.max_retry_count,
            protos.RpcException(request.retry.error, request.retry.stack_trace),
        ),
    )
    response = await library.invocation_request(_request(SimpleNamespace(invocation_request=message)))
    if response.result.status != protos.StatusResult.Success:
        failure = _failure(response.result)
        return wire.Result(request.invocation_id, failure.message, failure.stack_trace)
    return wire.Result(request.invocation_id, None, returned=convert.to_wire(response.return_value))


def current_invocation_id() -> str:
    """The invocation that the running code belongs to, or the empty text outside of any."""
    return library.invocation_id_cv.get() or ""


def is_system_noise(record: logging.LogRecord) -> bool:
    """True for the worker library's own chatter, which production does not show among the app's logs."""
    return record.name.startswith(_SYSTEM_LOGGERS) and record.levelno < logging.WARNING


def _request(content: object, **properties: object) -> SimpleNamespace:
    # The library takes the proxy worker's WorkerRequest: the protobuf message, and what the proxy adds to it.
    return SimpleNamespace(request=content, properties=properties)


def _failure(result: protos.StatusResult) -> wire.IndexingFailed:
    error = result.exception or protos.RpcException("the worker gave no reason")
    return wire.IndexingFailed(error.message, error.stack_trace)


def _function(metadata: protos.RpcFunctionMetadata) -> wire.Function:
    policy = convert.retry_policy(metadata.retry_options)
    return wire.Function(metadata.function_id, metadata.name, tuple(metadata.raw_bindings), policy)
