"""The smallest settlement client: injected by the worker, speaks the wire format by hand.

Requests are encoded here field by field, independently of the host's generated messages, so that a wrong field number
on either side shows.
"""

import argparse
import sys

import grpc
from azurefunctions.extensions.base import GrpcClientType, InConverter

DEADLINE = 5.0


class Settlement(GrpcClientType):
    """Settles messages by lock token; raises grpc.aio.AioRpcError when the host refuses."""

    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("--host")
        parser.add_argument("--port")
        parser.add_argument("--functions-grpc-max-message-length", type=int)
        arguments, _ = parser.parse_known_args(sys.argv[1:])
        self._channel = grpc.aio.insecure_channel(f"{arguments.host}:{arguments.port}")

    async def call(self, method: str, lock_token: str, *, reason: str = "", description: str = "") -> None:
        request = _field(1, lock_token.encode())
        if reason:
            request += _field(3, _field(1, reason.encode())) + _field(4, _field(1, description.encode()))
        await self.raw(method, request)

    async def raw(self, method: str, request: bytes) -> None:
        answer = await self._channel.unary_unary(f"/Settlement/{method}")(request, timeout=DEADLINE)
        assert answer == b""

    async def modify(self, method: str, lock_token: str) -> None:
        await self.raw(method, _field(1, lock_token.encode()) + _field(2, b"\xc1\x01\x00"))


class SettlementConverter(InConverter, binding="serviceBusClient"):
    """Where the worker looks for the client of an un-bound parameter."""

    _client: Settlement | None = None

    @classmethod
    def get_client(cls) -> Settlement:
        if cls._client is None:
            cls._client = Settlement()
        return cls._client

    @classmethod
    def check_input_type_annotation(cls, pytype: type) -> bool:
        return issubclass(pytype, Settlement)

    @classmethod
    def decode(cls, data: object, *, trigger_metadata: object) -> object:
        raise NotImplementedError


def _field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value
