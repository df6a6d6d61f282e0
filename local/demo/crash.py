"""The worker dies in the middle of its work: when that is, and how it is brought about."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from local.stack import HostStatus, Stack

from .standstill import Standstill

type Moment = Literal["before", "after"]
"""Whether the database has carried out the commit when the worker dies."""

MOMENTS: tuple[Moment, Moment] = ("before", "after")

TRAP_SECONDS = 20.0
"""Within so long a commit has to come by, or the app does not commit."""

POLL_SECONDS = 0.05


async def kill_while_committing(stack: Stack, moment: Moment, cause: Callable[[], Awaitable[None]]) -> HostStatus:
    """Kill the worker while a commit is in the database's hands; answer the host's status just before.

    `cause` makes the app commit; which commit it is does not matter. Returns when another worker runs. Raises
    Standstill, ControlFailed, and what `cause` raises.
    """
    lost = moment == "before"  # the commit dies with the worker; otherwise only its answer does
    await stack.cosmos.fault(operation="Batch", when=moment, hold=True, drop=lost)
    await cause()
    await _until_held(stack)
    killed = await stack.host.kill_worker()
    await stack.cosmos.release()
    await stack.host.wait_running(after=killed)
    return killed


async def _until_held(stack: Stack) -> None:
    try:
        async with asyncio.timeout(TRAP_SECONDS):
            while True:
                if await stack.cosmos.holds():
                    return
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError as error:
        raise Standstill(f"the app has committed nothing within {TRAP_SECONDS:.0f} s") from error
