"""Runs the broker: python -m local.service_bus"""

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from local.amqp import LOOPBACK

from .service import ServiceBus
from .topology import TopologyError

DEFAULT_PORT = 5672  # of AMQP without TLS
DEFAULT_CONTROL_PORT = 5673
DEFAULT_TOPOLOGY = Path("shared/topology.json")


def main() -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit code: 1 when it cannot start."""
    arguments = _parser().parse_args()
    logging.basicConfig(level=logging.WARNING, format="service-bus %(levelname)s %(message)s")
    try:
        asyncio.run(_serve(arguments.topology, arguments.port, arguments.control_port))
    except (OSError, TopologyError) as error:
        print(f"service-bus cannot start: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.service_bus",
        description="A local stand-in for Azure Service Bus. Listens on the loopback interface only.",
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="AMQP; 0 picks a free one (default %(default)s)")
    parser.add_argument(
        "--control-port", type=int, default=DEFAULT_CONTROL_PORT, help="HTTP control; 0 picks one (default %(default)s)"
    )
    parser.add_argument(
        "--topology", type=Path, default=DEFAULT_TOPOLOGY, help="JSON file with the queues (default %(default)s)"
    )
    return parser


async def _serve(topology: Path, port: int, control_port: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stopped.set)
    async with ServiceBus.serving(topology, port=port, control_port=control_port) as service:
        amqp, control = f"{LOOPBACK}:{service.amqp_port}", f"{LOOPBACK}:{service.control_port}"
        print(f"service-bus ready amqp={amqp} control={control}", flush=True)
        await stopped.wait()


if __name__ == "__main__":
    sys.exit(main())
