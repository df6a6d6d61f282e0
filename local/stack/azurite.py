"""Azurite's part of the stack: Microsoft's storage emulator, installed from npm into local/azurite."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .launcher import Launcher
from .part import PartFailed

PROGRAM = Path(__file__).parents[1] / "azurite/node_modules/azurite/dist/src/azurite.js"

ANNOUNCEMENT = "".join(
    rf".*Azurite {service} service is successfully listening at http://\S+?:(\d+)"
    for service in ("Blob", "Queue", "Table")
)

ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of the account devstoreaccount1, the same in every Azurite; Microsoft publishes it."""


@dataclass(frozen=True, slots=True)
class Azurite:
    """The running storage emulator."""

    connection_string: str
    """For the real SDKs and for `AzureWebJobsStorage`."""


async def start_azurite(launcher: Launcher, ports: Sequence[int]) -> Azurite:
    """Start blob, queue and table storage on these ports, in this order. Raises PartFailed, ControlFailed."""
    real_ports = await launcher.launch("azurite", _command(ports), ANNOUNCEMENT, ports)
    for port in real_ports:
        await launcher.channel("azurite", port).answers()
    return Azurite(_connection_string(real_ports))


def _command(ports: Sequence[int]) -> tuple[str, ...]:
    node = shutil.which("node")
    if node is None or not PROGRAM.exists():
        raise PartFailed("azurite is not installed. `make run` and `make up` install it; they need Node 20 or newer.")
    flags = zip(("--blobPort", "--queuePort", "--tablePort"), map(str, ports), strict=True)
    # In memory: nothing is left on disk. No version check: SDKs run ahead of the emulator.
    options = ("--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry")
    return (node, str(PROGRAM), *options, *(word for flag in flags for word in flag))


def _connection_string(ports: Sequence[int]) -> str:
    kinds = zip(("Blob", "Queue", "Table"), ports, strict=True)
    endpoints = "".join(f"{kind}Endpoint=http://127.0.0.1:{port}/devstoreaccount1;" for kind, port in kinds)
    return f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={ACCOUNT_KEY};{endpoints}"
