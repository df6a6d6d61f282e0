"""Command line: `python -m local.host --app . --port 7071 [--log-level Warning]`."""

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from .errors import HostError
from .host import FunctionsHost
from .host_json import log_level

# What Core Tools listens on.
DEFAULT_PORT = 7071
CANNOT_RUN = 1


def main() -> int:
    """Runs the host until SIGINT or SIGTERM; returns 1 when the app cannot run as it stands."""
    parser = argparse.ArgumentParser(prog="python -m local.host", description=__doc__)
    parser.add_argument("--app", type=Path, default=Path(), help="folder with host.json and function_app.py")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 picks a free one")
    parser.add_argument("--log-level", help="Trace … Critical; wins over logging.logLevel.default of host.json")
    arguments = parser.parse_args()
    try:
        return asyncio.run(_run(arguments.app, arguments.port, arguments.log_level))
    except HostError as error:
        print(f"host: {error}", file=sys.stderr)
        return CANNOT_RUN


async def _run(app_dir: Path, port: int, level: str | None) -> int:
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    host = FunctionsHost(app_dir)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    logging.getLogger("local.host").setLevel(log_level(level) if level else host.log_level)
    starting = asyncio.create_task(host.start(port))
    stop_asked = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((starting, stop_asked), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting
            print(f"host ready {host.url}", flush=True)
            await stop_asked
    finally:
        starting.cancel()
        stop_asked.cancel()
        await asyncio.gather(starting, stop_asked, return_exceptions=True)
        await host.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
