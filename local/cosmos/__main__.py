"""`python -m local.cosmos`: serve until SIGTERM or Ctrl-C."""

import argparse
import asyncio
import signal

from .service import IN_MEMORY, Cosmos

DEFAULT_PORT = 8081  # the port of Microsoft's emulator


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.cosmos", description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port on 127.0.0.1; 0 picks a free one")
    parser.add_argument("--db", default=IN_MEMORY, metavar="FILE", help="SQLite file; without it, data lives in memory")
    parser.add_argument("--topology", metavar="FILE", help="JSON file with the database and containers to create")
    options = parser.parse_args()
    asyncio.run(_serve(options))


async def _serve(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with Cosmos.serving(port=options.port, db=options.db, topology=options.topology) as running:
        print(f"cosmos ready {running.endpoint.rstrip('/')}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    main()
