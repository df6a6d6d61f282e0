"""`extensions.eventHubs` of host.json (source: `EventHubOptions.cs` of the Event Hubs extension 6.x, and the docs)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from .errors import HostError
from .timespan import timespan

# Longest `maxWaitTime` that the extension accepts.
LONGEST_WAIT = timedelta(minutes=10)
# Positions as the SDK spells them: before the first event, and after the last.
_START = "-1"
_END = "@latest"


@dataclass(frozen=True, slots=True)
class EventHubsOptions:
    """How one host reads its event hubs; the defaults are production's."""

    # Most events of one invocation (cardinality many).
    max_event_batch_size: int = 100
    # Fewest events of one invocation, as long as `max_wait` has not passed (cardinality many).
    min_event_batch_size: int = 1
    # How long events wait for company; only with a smallest batch above 1.
    max_wait: timedelta = timedelta(seconds=60)
    # Batches of one partition between two checkpoints.
    batch_checkpoint_frequency: int = 1
    # Events that the SDK may have fetched ahead, per partition.
    prefetch_count: int = 300
    # Where a partition without a checkpoint begins: an SDK position, or the moment of enqueuing after which to read.
    initial_position: str | datetime = _START
    # Pause between two rounds of renewing, claiming and balancing partitions.
    load_balancing_interval: timedelta = timedelta(seconds=30)
    # After so long without renewal a partition is free for other hosts.
    ownership_expiration: timedelta = timedelta(minutes=2)

    @staticmethod
    def read(section: dict[str, Any]) -> "EventHubsOptions":
        """Reads the section. Raises HostError for values that the extension refuses, or that this host ignores."""
        default = EventHubsOptions()
        if section.get("enableCheckpointing", True) is not True:
            raise HostError("the local host always checkpoints: take enableCheckpointing out of extensions.eventHubs")
        options = EventHubsOptions(
            max_event_batch_size=int(section.get("maxEventBatchSize", default.max_event_batch_size)),
            min_event_batch_size=int(section.get("minEventBatchSize", default.min_event_batch_size)),
            max_wait=_duration(section, "maxWaitTime", default.max_wait),
            batch_checkpoint_frequency=int(section.get("batchCheckpointFrequency", default.batch_checkpoint_frequency)),
            prefetch_count=int(section.get("prefetchCount", default.prefetch_count)),
            initial_position=_initial_position(section.get("initialOffsetOptions", {})),
            load_balancing_interval=_duration(section, "loadBalancingUpdateInterval", default.load_balancing_interval),
            ownership_expiration=_duration(
                section, "partitionOwnershipExpirationInterval", default.ownership_expiration
            ),
        )
        options._refuse_nonsense()
        return options

    def _refuse_nonsense(self) -> None:
        if min(self.max_event_batch_size, self.min_event_batch_size, self.batch_checkpoint_frequency) < 1:
            raise HostError("extensions.eventHubs: batch sizes and batchCheckpointFrequency must be at least 1")
        if self.min_event_batch_size > self.max_event_batch_size:
            raise HostError("extensions.eventHubs: minEventBatchSize must not exceed maxEventBatchSize")
        if self.max_wait > LONGEST_WAIT:
            raise HostError("extensions.eventHubs: maxWaitTime must not exceed ten minutes")
        if self.prefetch_count < 1:
            # The SDK takes 0 for "not said" and would fetch 300 ahead.
            raise HostError("extensions.eventHubs: the local host needs a prefetchCount of at least 1")


def _duration(section: dict[str, Any], name: str, default: timedelta) -> timedelta:
    return timespan(section[name]) if name in section else default


def _initial_position(section: dict[str, Any]) -> str | datetime:
    match str(section.get("type", "fromStart")).lower():
        case "fromstart":
            return _START
        case "fromend":
            return _END
        case "fromenqueuedtime":
            return _moment(section.get("enqueuedTimeUtc"))
        case other:
            raise HostError(f"initialOffsetOptions: {other!r} is none of fromStart, fromEnd, fromEnqueuedTime")


def _moment(text: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise HostError(f"initialOffsetOptions: enqueuedTimeUtc is no ISO 8601 moment: {text!r}") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
