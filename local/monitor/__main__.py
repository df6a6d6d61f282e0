"""`python -m local.monitor`: serve until SIGTERM or Ctrl-C."""

import argparse
import asyncio
import signal
from pathlib import Path

from .service import Monitor

DEFAULT_PORT = 8087  # no emulator's; beside the database's


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.monitor", description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port on 127.0.0.1; 0 picks a free one")
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path("local/.run"),
        help="where traces.jsonl and logs.jsonl are written (default %(default)s)",
    )
    options = parser.parse_args()
    asyncio.run(_serve(options.port, options.directory))


async def _serve(port: int, directory: Path) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with Monitor.serving(port=port, directory=directory) as running:
        print(f"monitor ready {running.endpoint.rstrip('/')}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    main()
