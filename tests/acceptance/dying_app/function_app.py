"""The real consumer in an app whose worker dies at the one moment no fault from outside can hit: after the commit has
been answered, before the settlement is sent. Once; the next worker settles."""

import os
import signal
from pathlib import Path

import azure.functions as func

from shared import wiring
from shared.transports import service_bus
from shared.transports.settlement import Settlement

app = func.FunctionApp()


class DyingSettlement:
    """Dies instead of settling the first message, and says which worker it was."""

    def __init__(self, settlement: Settlement, grave: Path) -> None:
        self._settlement = settlement
        self._grave = grave

    async def complete(self, lock_token: str) -> None:
        if not self._grave.exists():
            self._grave.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        await self._settlement.complete(lock_token)


@app.service_bus_queue_trigger(
    arg_name="message",
    queue_name="orders",
    connection="ServiceBusConnection",
    data_type=func.DataType.BINARY,
    auto_complete_messages=False,
)
async def place_order(message: func.ServiceBusMessage, settlement: Settlement) -> None:
    dying = DyingSettlement(settlement, Path(os.environ["GRAVE"]))
    await service_bus.consume(wiring.consumer("place_order"), message, dying)  # type: ignore[arg-type]
