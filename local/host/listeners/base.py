"""What every kind of trigger offers the host, and what the host offers it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from .. import wire
from ..app_settings import AppSettings
from ..clock import Clock
from ..host_json import HostJson
from ..settlement.registry import SettlementRegistry


class Listener(Protocol):
    """Turns the events of one trigger into invocations of one function."""

    async def start(self) -> None:
        """Begins to receive events in the background. Raises HostError when the trigger's settings cannot work."""

    async def stop(self, grace: timedelta) -> None:
        """Takes no new events at once, lets running invocations finish within the grace, gives the rest back."""


class Invoker(Protocol):
    """Runs functions in the worker."""

    async def ready(self) -> None:
        """Returns once there is a worker to ask."""

    async def invoke(
        self,
        function: wire.Function,
        parameter: str,
        value: wire.TypedData,
        metadata: dict[str, wire.TypedData],
        retry: wire.RetryContext = wire.NO_RETRIES,
    ) -> wire.Result:
        """Runs a function once; `retry` says which attempt it is.

        Raises WorkerLost when the worker dies before it has answered.
        """


type Rewind = Callable[[str, int], Awaitable[None]]
"""Sends one partition, by its id, back to a sequence number. Raises HostError when it cannot."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a listener may use of the host."""

    invoker: Invoker
    settings: AppSettings
    host_json: HostJson
    settlements: SettlementRegistry
    clock: Clock
