"""A broker as a program."""

import argparse
import asyncio
import logging
import signal
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from local.amqp import LOOPBACK

from .service import Service
from .topology import TopologyError

DEFAULT_TOPOLOGY = Path("shared/topology.json")


class Serving(Protocol):
    """Runs a broker for the topology of a file while the context is open."""

    def __call__(self, topology: Path, *, port: int, control_port: int) -> AbstractAsyncContextManager[Service]: ...


@dataclass(frozen=True, slots=True)
class Program:
    """The command line of a broker."""

    name: str  # what it calls itself in what it prints
    module: str  # `python -m` this
    description: str  # one line for --help
    port: int  # of AMQP, unless told otherwise
    control_port: int  # of HTTP control, unless told otherwise
    serving: Serving  # starts the broker

    def main(self) -> int:
        """Serve until SIGTERM or SIGINT. Returns the exit code: 1 when it cannot start."""
        arguments = self._parser().parse_args()
        logging.basicConfig(level=logging.WARNING, format=f"{self.name} %(levelname)s %(message)s")
        try:
            asyncio.run(self._serve(arguments.topology, arguments.port, arguments.control_port))
        except (OSError, TopologyError) as error:
            print(f"{self.name} cannot start: {error}", file=sys.stderr)
            return 1
        return 0

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(
            prog=f"python -m {self.module}",
            description=f"{self.description} Listens on the loopback interface only.",
        )
        free = "0 picks a free one (default %(default)s)"
        parser.add_argument("--port", type=int, default=self.port, help=f"AMQP; {free}")
        parser.add_argument("--control-port", type=int, default=self.control_port, help=f"HTTP control; {free}")
        parser.add_argument(
            "--topology", type=Path, default=DEFAULT_TOPOLOGY, help="JSON file with the entities (default %(default)s)"
        )
        return parser

    async def _serve(self, topology: Path, port: int, control_port: int) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, stopped.set)
        async with self.serving(topology, port=port, control_port=control_port) as service:
            amqp, control = f"{LOOPBACK}:{service.amqp_port}", f"{LOOPBACK}:{service.control_port}"
            print(f"{self.name} ready amqp={amqp} control={control}", flush=True)
            await stopped.wait()
