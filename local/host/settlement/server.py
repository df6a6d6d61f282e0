"""The settlement service itself: gRPC on loopback, answers as `SettlementService.cs` of the extension gives them."""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from . import messages
from .registry import Settleable, SettlementRegistry, UnknownLockToken


class SettlementServer:
    """Lets the worker settle the messages in the registry."""

    def __init__(self, registry: SettlementRegistry, max_message_length: int) -> None:
        self._registry = registry
        self._server = grpc.aio.server(options=(("grpc.max_receive_message_length", max_message_length),))

    async def start(self) -> int:
        """Starts to listen and returns the port."""
        parsers = messages.request_parsers()
        handlers = {
            method: grpc.unary_unary_rpc_method_handler(self._answer(act), parsers[method], bytes)
            for method, act in _ACTIONS.items()
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(messages.SERVICE, handlers),))
        port: int = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return port

    async def stop(self) -> None:
        """Stops listening; calls under way are cut off, since their worker is gone by then."""
        await self._server.stop(None)

    def _answer(
        self, act: Callable[[Settleable, Any], Awaitable[None]]
    ) -> Callable[[Any, grpc.aio.ServicerContext[Any, Any]], Awaitable[bytes]]:
        async def answer(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
            try:
                message = self._registry.find(request.locktoken)
            except UnknownLockToken:
                missing = f"LockToken {request.locktoken} not found."
                await context.abort(grpc.StatusCode.FAILED_PRECONDITION, missing)
            if getattr(request, "propertiesToModify", b""):
                refusal = "the local host cannot modify application properties while settling"
                await context.abort(grpc.StatusCode.UNIMPLEMENTED, refusal)
            try:
                await act(message, request)
            except Exception as error:  # noqa: BLE001  the extension answers Unknown to any failure
                await context.abort(grpc.StatusCode.UNKNOWN, f"{type(error).__name__}: {error}")
            return messages.EMPTY

        return answer


async def _dead_letter(message: Settleable, request: Any) -> None:
    reason = request.deadletterReason.value if request.HasField("deadletterReason") else None
    described = request.HasField("deadletterErrorDescription")
    await message.dead_letter(reason, request.deadletterErrorDescription.value if described else None)


_ACTIONS: dict[str, Callable[[Settleable, Any], Awaitable[None]]] = {
    "Complete": lambda message, _request: message.complete(),
    "Abandon": lambda message, _request: message.abandon(),
    "Deadletter": _dead_letter,
    "Defer": lambda message, _request: message.defer(),
    "RenewMessageLock": lambda message, _request: message.renew_lock(),
}
