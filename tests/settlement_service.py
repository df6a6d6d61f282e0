"""The host's settlement service over real gRPC, as far as a consumer needs it.

Requests are decoded from the wire by hand, so that a wrong field number in the client cannot hide in a shared schema.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc.aio

from shared.transports.settlement import Settlement

from .examples import LOCK_TOKEN

type Fields = dict[int, bytes]


@dataclass
class SettlementService:
    """Knows one message; remembers what it was told; can be told to hang."""

    address: str = ""
    locked: set[str] = field(default_factory=lambda: {LOCK_TOKEN})
    settled: list[tuple[str, ...]] = field(default_factory=list)
    hangs: bool = False

    async def complete(self, request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        fields = _fields(request)
        await self._settle(fields, context)
        self.settled.append(("complete",))
        return b""

    async def dead_letter(self, request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        fields = _fields(request)
        await self._settle(fields, context)
        reason, description = (_fields(fields[number])[1].decode() for number in (3, 4))
        self.settled.append(("dead_letter", reason, description))
        return b""

    async def _settle(self, fields: Fields, context: grpc.aio.ServicerContext) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        token = fields.get(1, b"").decode()
        if token not in self.locked:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"LockToken {token} not found.")
        self.locked.discard(token)


@asynccontextmanager
async def serving() -> AsyncIterator[SettlementService]:
    """A service on a free port of this machine."""
    service = SettlementService()
    handlers = {
        "Complete": grpc.unary_unary_rpc_method_handler(service.complete),
        "Deadletter": grpc.unary_unary_rpc_method_handler(service.dead_letter),
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Settlement", handlers),))
    service.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield service
    finally:
        await server.stop(None)


@asynccontextmanager
async def client_of(service: SettlementService, **changes: Any) -> AsyncIterator[Settlement]:
    """Our client, closed at the end."""
    settlement = Settlement(service.address, **changes)
    try:
        yield settlement
    finally:
        await settlement.close()


def _fields(message: bytes) -> Fields:
    """Length-delimited fields by number (Protocol Buffers, "Encoding"); a proto3 string that is empty is not sent."""
    found: Fields = {}
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        length, at = _varint(message, at)
        assert tag & 7 == 2, "only length-delimited fields are expected"
        found[tag >> 3] = message[at : at + length]
        at += length
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at
