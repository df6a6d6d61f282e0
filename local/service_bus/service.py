"""The broker with its sockets, as one thing to start and stop."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from local.amqp import LOOPBACK, AmqpServer

from .broker import Broker
from .clock import Clock
from .control import control_app
from .topology import parse_topology, read_topology

# How often time is looked at on behalf of receivers that only wait. Whoever asks the broker anything never waits.
TICK_SECONDS = 0.02
# The key of Microsoft's emulator: public, so it protects nothing and nobody mistakes it for a secret.
EMULATOR_KEY = "SAS_KEY_VALUE"


class ServiceBus:
    """A running broker. Use `serving`."""

    def __init__(self, broker: Broker, server: AmqpServer, clock: Clock) -> None:
        self.clock = clock
        self.amqp_port = 0
        self.control_port = 0
        self._broker = broker
        self._server = server

    @classmethod
    @asynccontextmanager
    async def serving(
        cls,
        topology: Path | Mapping[str, Any],
        *,
        port: int = 0,
        control_port: int = 0,
        clock: Clock | None = None,
    ) -> AsyncIterator["ServiceBus"]:
        """Run a broker in the current event loop while the context is open.

        `topology` is a topology file, or its content. Port 0 is a free port; see `amqp_port` and `control_port`.
        Raises TopologyError, OSError (a port is taken, the file is missing).
        """
        queues = read_topology(topology) if isinstance(topology, Path) else parse_topology(topology)
        clock = clock or Clock()
        broker = Broker(queues, clock)
        server = AmqpServer(broker)
        service = cls(broker, server, clock)
        runner = web.AppRunner(control_app(service), access_log=None)
        ticker: asyncio.Task[None] | None = None
        try:
            service.amqp_port = await server.start(port)
            await runner.setup()
            await web.TCPSite(runner, LOOPBACK, control_port).start()
            service.control_port = runner.addresses[0][1]
            ticker = asyncio.create_task(service._tick())
            yield service
        finally:
            if ticker is not None:
                ticker.cancel()
            await runner.cleanup()
            await server.stop()

    @property
    def connection_string(self) -> str:
        """What a client needs, in the form of Microsoft's emulator."""
        return (
            f"Endpoint=sb://localhost:{self.amqp_port};SharedAccessKeyName=RootManageSharedAccessKey;"
            f"SharedAccessKey={EMULATOR_KEY};UseDevelopmentEmulator=true;"
        )

    def advance(self, seconds: float) -> None:
        """Move the broker's clock forward, and do at once what becomes due."""
        self.clock.advance(seconds)
        self._broker.tick()

    def statistics(self) -> dict[str, dict[str, int]]:
        """What happened so far, by queue."""
        return self._broker.statistics()

    def drop_connections(self) -> int:
        """Cut every AMQP connection. Returns how many there were."""
        return self._server.drop_connections()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._broker.tick()
