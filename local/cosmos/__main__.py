"""`python -m local.cosmos`: serve until SIGTERM or Ctrl-C."""

import argparse
import asyncio
import signal
import sys

from .service import IN_MEMORY, Cosmos

DEFAULT_PORT = 8081  # the port of Microsoft's emulator
DEFAULT_TOPOLOGY = "shared/topology.json"
NO_TOPOLOGY = ""


def main() -> int:
    """Serve until told to stop. Returns the exit code: 1 when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m local.cosmos", description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port on 127.0.0.1; 0 picks a free one")
    parser.add_argument("--db", default=IN_MEMORY, metavar="FILE", help="SQLite file; without it, data lives in memory")
    parser.add_argument(
        "--topology",
        default=DEFAULT_TOPOLOGY,
        metavar="FILE",
        help='JSON file with the database and containers to create (default %(default)s); "" creates none',
    )
    options = parser.parse_args()
    try:
        asyncio.run(_serve(options))
    except (OSError, ValueError) as error:
        print(f"cosmos cannot start: {error}", file=sys.stderr)
        return 1
    return 0


async def _serve(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    topology = None if options.topology == NO_TOPOLOGY else options.topology
    async with Cosmos.serving(port=options.port, db=options.db, topology=topology) as running:
        print(f"cosmos ready {running.endpoint.rstrip('/')}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    sys.exit(main())
