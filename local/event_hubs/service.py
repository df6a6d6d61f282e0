"""The broker as one thing to start and stop."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from local.broker import Clock, Service, read_document

from .broker import Broker
from .topology import parse_topology


class EventHubs(Service):
    """A running broker. Use `serving`."""

    ENTITIES: ClassVar[str] = "hubs"

    @classmethod
    @asynccontextmanager
    async def serving(
        cls,
        topology: Path | Mapping[str, Any],
        *,
        port: int = 0,
        control_port: int = 0,
        clock: Clock | None = None,
    ) -> AsyncIterator["EventHubs"]:
        """Run a broker in the current event loop while the context is open.

        `topology` is a topology file, or its content. Port 0 is a free port; see `amqp_port` and `control_port`.
        Raises TopologyError, OSError (a port is taken, the file is missing).
        """
        clock = clock or Clock()
        service = cls(Broker(parse_topology(read_document(topology)), clock), clock)
        async with service.listening(port, control_port):
            yield service
