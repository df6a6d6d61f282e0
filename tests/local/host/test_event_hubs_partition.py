"""One partition by itself, with storage that fails."""

import asyncio

from azure.core.exceptions import ServiceRequestError
from azure.eventhub import EventData

from local.host import wire
from local.host.app_settings import AppSettings
from local.host.bindings import TriggeredFunction
from local.host.clock import Clock
from local.host.host_json import HostJson
from local.host.listeners.base import Surroundings
from local.host.listeners.event_hubs_partition import Partition, Subscription
from local.host.settlement.registry import SettlementRegistry

from .event_hubs_stage import event
from .waiting import eventually


class WithoutStorage:
    """The SDK's view of a partition whose checkpoints cannot be written."""

    fully_qualified_namespace, eventhub_name, consumer_group, partition_id = "localhost", "hub", "$Default", "0"

    async def update_checkpoint(self, event: EventData) -> None:
        raise ServiceRequestError("storage is away")


class AllIsWell:
    """A worker that remembers which events it was given."""

    def __init__(self) -> None:
        self.numbers: list[tuple[int, ...]] = []

    async def ready(self) -> None:
        return

    async def invoke(
        self,
        function: wire.Function,
        parameter: str,
        value: wire.TypedData,
        metadata: dict[str, wire.TypedData],
        retry: wire.RetryContext = wire.NO_RETRIES,
    ) -> wire.Result:
        self.numbers.append(metadata["SequenceNumberArray"].integers or ())
        return wire.Result("i", None)


def numbered(number: int) -> EventData:
    made = event()
    made.raw_amqp_message.annotations[b"x-opt-sequence-number"] = number
    return made


async def test_without_its_checkpoint_a_partition_does_not_go_on() -> None:
    """When storage is away the listener is told to read again, and no later batch runs before it does."""
    worker, failures = AllIsWell(), []
    function = TriggeredFunction(wire.Function("id", "hear", (), None), "eventHubTrigger", "events", {})
    surroundings = Surroundings(worker, AppSettings({}), HostJson(), SettlementRegistry(), Clock())
    partition = Partition(Subscription(function, surroundings, True, failures.append), WithoutStorage())
    taking = asyncio.create_task(partition.take([numbered(7)]))
    await eventually(lambda: failures)
    assert isinstance(failures[0], ServiceRequestError)
    assert not taking.done()
    partition.release()
    await taking
    await partition.take([numbered(8)])
    assert worker.numbers == [(7,)]
