"""A broker with its sockets, as one thing to start and stop."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from aiohttp import web

from local.amqp import LOOPBACK, AmqpServer, Container

from .clock import Clock
from .control import control_app
from .topology import read_document

# How often time is looked at on behalf of receivers that only wait. Whoever asks the broker anything never waits.
TICK_SECONDS = 0.02
# The key of Microsoft's emulators: public, so it protects nothing and nobody mistakes it for a secret.
EMULATOR_KEY = "SAS_KEY_VALUE"


class Broker(Container, Protocol):
    """A namespace of entities behind the engine."""

    def tick(self) -> None:
        """Do what the clock has made due."""

    def statistics(self) -> Mapping[str, Any]:
        """What happened so far, by entity."""


class Service(ABC):
    """A running broker. Use `serving` of the kind that is wanted."""

    ENTITIES: ClassVar[str]  # what the broker keeps, the name of its statistics on the control endpoint

    @staticmethod
    @abstractmethod
    def make_broker(topology: Mapping[str, Any], clock: Clock) -> Broker:
        """The broker of a topology document. Raises TopologyError."""

    @classmethod
    @asynccontextmanager
    async def serving(
        cls,
        topology: Path | Mapping[str, Any],
        *,
        port: int = 0,
        control_port: int = 0,
        clock: Clock | None = None,
    ) -> AsyncIterator[Self]:
        """Run a broker in the current event loop while the context is open.

        `topology` is a topology file, or its content. Port 0 is a free port; see `amqp_port` and `control_port`.
        Raises TopologyError, OSError (a port is taken, the file is missing).
        """
        clock = clock or Clock()
        service = cls(cls.make_broker(read_document(topology), clock), clock)
        async with service._listening(port, control_port):
            yield service

    def __init__(self, broker: Broker, clock: Clock) -> None:
        self.clock = clock
        self.amqp_port = 0
        self.control_port = 0
        self._broker = broker
        self._server = AmqpServer(broker)

    @asynccontextmanager
    async def _listening(self, port: int, control_port: int) -> AsyncIterator[None]:
        """Run in the current event loop while the context is open. Raises OSError when a port is taken."""
        runner = web.AppRunner(control_app(self), access_log=None)
        ticker: asyncio.Task[None] | None = None
        try:
            self.amqp_port = await self._server.start(port)
            await runner.setup()
            await web.TCPSite(runner, LOOPBACK, control_port).start()
            self.control_port = runner.addresses[0][1]
            ticker = asyncio.create_task(self._tick())
            yield
        finally:
            if ticker is not None:
                ticker.cancel()
            await runner.cleanup()
            await self._server.stop()

    @property
    def connection_string(self) -> str:
        """What a client needs, in the form of Microsoft's emulators."""
        return (
            f"Endpoint=sb://localhost:{self.amqp_port};SharedAccessKeyName=RootManageSharedAccessKey;"
            f"SharedAccessKey={EMULATOR_KEY};UseDevelopmentEmulator=true;"
        )

    def advance(self, seconds: float) -> None:
        """Move the broker's clock forward, and do at once what becomes due."""
        self.clock.advance(seconds)
        self._broker.tick()

    def statistics(self) -> Mapping[str, Any]:
        """What happened so far, by entity."""
        return self._broker.statistics()

    def drop_connections(self) -> int:
        """Cut every AMQP connection. Returns how many there were."""
        return self._server.drop_connections()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._broker.tick()
