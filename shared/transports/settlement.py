"""Our client for the settlement service of the Functions host: complete or dead-letter the message being processed.

The host keeps every message that it has handed to an invocation, by lock token, and serves a gRPC service named
`Settlement` on the address that it gives the worker on its command line. The worker injects a `Settlement` into the
function parameter that is annotated so. docs/decisions/0002-own-settlement-client.md says why this is not Microsoft's.
"""

import argparse
import functools
import sys
from collections.abc import Callable
from typing import Any

import grpc.aio  # type: ignore[import-untyped]
from azurefunctions.extensions.base import GrpcClientType, InConverter  # type: ignore[import-untyped]
from google.protobuf import empty_pb2  # type: ignore[import-untyped]

from .settlement_messages import CompleteRequest, DeadletterRequest

DEADLINE = 10.0
"""Seconds for one settlement: the host passes it on to Service Bus, which answers in well under a second; a message
whose settlement hangs is better delivered again, to its marker."""


class SettlementError(Exception):
    """The host could not be told, or did not agree. The message comes again once its lock has expired."""


class Settlement(GrpcClientType):  # type: ignore[misc]
    """Settles messages by lock token. Its connection belongs to the event loop of the first call."""

    def __init__(self, address: str, *, deadline: float = DEADLINE) -> None:
        """`address`: host:port of the Functions host. `deadline`: seconds for each call."""
        super().__init__()
        self._address = address
        self._deadline = deadline
        self._channel: Any = None

    async def complete(self, lock_token: str) -> None:
        """Remove the message from its queue. Raises `SettlementError`."""
        await self._call("Complete", CompleteRequest(locktoken=lock_token))

    async def dead_letter(self, lock_token: str, reason: str, description: str) -> None:
        """Move the message to the dead-letter queue. Raises `SettlementError`."""
        request = DeadletterRequest(locktoken=lock_token)
        request.deadletterReason.value = reason
        request.deadletterErrorDescription.value = description
        await self._call("Deadletter", request)

    async def close(self) -> None:
        """Give the connection back. A worker keeps it for life; a test does not."""
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    async def _call(self, method: str, request: Any) -> None:
        try:
            await self._method(method)(request, timeout=self._deadline)
        except grpc.RpcError as error:
            raise SettlementError(f"{method} failed: {error.code().name} {error.details()}") from error

    def _method(self, name: str) -> Callable[..., Any]:
        if self._channel is None:
            # Requests and answers stay under 10 KB: the length limit that the host announces never matters here.
            self._channel = grpc.aio.insecure_channel(self._address)
        call: Callable[..., Any] = self._channel.unary_unary(
            f"/Settlement/{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=empty_pb2.Empty.FromString,
        )
        return call


class SettlementConverter(InConverter, binding="serviceBusClient"):  # type: ignore[misc, call-arg]
    """Where the worker asks for the settlement client: the converter registered under this binding name.

    Importing Microsoft's extension beside it fails at once, because a name can be registered only once.
    """

    @classmethod
    def get_client(cls) -> Settlement:
        """The worker's one client, made on first use, when the worker's command line is complete."""
        return _client_of_this_worker()


@functools.cache
def _client_of_this_worker() -> Settlement:
    return Settlement(address_in(sys.argv[1:]))


def address_in(arguments: list[str]) -> str:
    """The host's address in the worker's command line. Raises `SettlementError` when it is not there."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    known, _ = parser.parse_known_args(arguments)
    if not known.host or not known.port:
        raise SettlementError("The worker was started without --host and --port: there is no host to settle with.")
    return f"{known.host}:{known.port}"
