"""A module of the tests in a process of its own, and what it reports."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
_SECONDS = 60
"""For a process that takes a few: a hanging test says so instead of hanging."""


async def report_of(module: str, *arguments: str, settings: Mapping[str, str] | None = None) -> Any:
    """The JSON that `python -m module` prints. It knows no app setting but those given."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        cwd=_ROOT,
        env=environment | dict(settings or {}),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    return json.loads(out)
