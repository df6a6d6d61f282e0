"""`python -m local.stack`: runs the whole stack until Ctrl-C and prints where things are."""

import argparse
import sys
from pathlib import Path

from . import FREE, WELL_KNOWN, ControlFailed, PartFailed, Ports, Stack, run_until_signal
from .launcher import ROOT


def main() -> int:
    """Parse the command line and run; 0 never comes back, a stack ends by a signal or a failure."""
    parser = argparse.ArgumentParser(prog="python -m local.stack", description=__doc__)
    parser.add_argument("--app", type=Path, default=ROOT, help="the app's folder (default: this checkout)")
    parser.add_argument("--free-ports", action="store_true", help="listen on any free ports, not the usual ones")
    given = parser.parse_args()
    return run_until_signal(_run(given.app, FREE if given.free_ports else WELL_KNOWN))


async def _run(app: Path, ports: Ports) -> int:
    print("Starting broker, event stream, database, storage, monitor and host …", flush=True)
    try:
        async with Stack.running(app_dir=app, azurite=True, monitor=True, ports=ports) as stack:
            print(_where(stack), flush=True)
            raise await stack.failure()
    except (PartFailed, ControlFailed) as failure:
        print(failure, file=sys.stderr)
        return 1
    finally:
        print("Stopped.", flush=True)


def _where(stack: Stack) -> str:
    logs = "\n".join(f"  {part.name:<12} {part.log}" for part in stack.parts)
    settings = "\n".join(f"  {name}={value}" for name, value in stack.services.settings().items())
    return f"""
Functions host   {stack.host.url}  (status: /admin/host/status)
Broker control   {stack.service_bus.channel.base}  (/statistics, /clock, /connections/drop)
Stream control   {stack.event_hubs.channel.base}  (/statistics, /clock, /connections/drop)
Database         {stack.cosmos.endpoint}  (/_local/requests, /_local/faults, /_local/clock)
Metrics          {stack.monitor.channel.base}/_local/metrics
Traces           {stack.monitor.traces}
Log lines        {stack.monitor.logs}

App settings
{settings}

Logs
{logs}

Running. Ctrl-C stops everything."""


if __name__ == "__main__":
    sys.exit(main())
