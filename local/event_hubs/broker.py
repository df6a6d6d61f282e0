"""The Event Hubs broker: which links lead where. Implements the engine's Container."""

import re
from collections.abc import Mapping
from typing import Any

from local.amqp import AmqpError, Condition, IncomingLink, OutgoingLink
from local.broker import CBS_NODE, Clock, RequestNodes, entity_path, put_token

from .encoding import MAX_PUBLICATION_SIZE
from .faults import EntityNotFound
from .hub import EventHub
from .management import Management
from .receivers import SELECTOR_FILTER, Readers
from .senders import Sender
from .topology import HubSettings

MANAGEMENT_NODE = "$management"
PUBLISHERS = "/publishers/"
SENDER_PATH = re.compile(r"(?P<hub>[^/]+)(?:/partitions/(?P<partition>[^/]+))?")
RECEIVER_PATH = re.compile(r"(?P<hub>[^/]+)/consumergroups/(?P<group>[^/]+)/partitions/(?P<partition>[^/]+)")


class Broker:
    """A namespace with its event hubs."""

    def __init__(self, hubs: Mapping[str, HubSettings], clock: Clock) -> None:
        self._hubs = {settings.name.lower(): EventHub(settings, clock) for settings in hubs.values()}
        self._readers = {
            (path, partition_id): Readers(partition, clock)
            for path, hub in self._hubs.items()
            for partition_id, partition in hub.partitions.items()
        }
        self._management = Management(lambda name: self._find(name.lower()))
        self._requests = RequestNodes()

    def on_attach(self, link: IncomingLink | OutgoingLink) -> None:
        """Let a client send, receive or ask, or tell it why not."""
        try:
            self._attach(link)
        except AmqpError as error:
            link.refuse(error)

    def tick(self) -> None:
        """Nothing here waits for a time: retention is observed by whoever looks at a partition."""

    def statistics(self) -> dict[str, Any]:
        """What happened so far, by event hub."""
        return {hub.settings.name: hub.statistics() for hub in self._hubs.values()}

    def _attach(self, link: IncomingLink | OutgoingLink) -> None:
        if link.is_coordinator:
            raise AmqpError(Condition.NOT_IMPLEMENTED, "Event Hubs has no transactions.")
        path = entity_path(link.target_address if isinstance(link, IncomingLink) else link.source_address)
        if path == CBS_NODE:
            self._requests.attach(link, path, put_token, MAX_PUBLICATION_SIZE)
        elif path == MANAGEMENT_NODE:
            self._requests.attach(link, path, self._management.handle, MAX_PUBLICATION_SIZE)
        elif isinstance(link, IncomingLink):
            self._attach_sender(link, path)
        else:
            self._attach_receiver(link, path)

    def _attach_sender(self, link: IncomingLink, path: str) -> None:
        if PUBLISHERS in path:
            raise AmqpError(Condition.NOT_IMPLEMENTED, "Publisher endpoints are not supported by the local broker.")
        match = SENDER_PATH.fullmatch(path)
        if match is None:
            raise EntityNotFound(path)
        hub = self._find(match["hub"])
        if match["partition"] is not None:
            hub.partition(match["partition"])
        link.accept(Sender(hub, match["partition"]), MAX_PUBLICATION_SIZE)

    def _attach_receiver(self, link: OutgoingLink, path: str) -> None:
        match = RECEIVER_PATH.fullmatch(path)
        if match is None:
            raise EntityNotFound(path)
        hub = self._find(match["hub"])
        hub.require_group(match["group"])
        hub.partition(match["partition"])
        unknown = sorted(link.filters.keys() - {SELECTOR_FILTER})
        if unknown:
            raise AmqpError(Condition.NOT_IMPLEMENTED, f"The filters {unknown} are not supported.")
        self._readers[match["hub"], match["partition"]].attach(link, match["group"])

    def _find(self, path: str) -> EventHub:
        hub = self._hubs.get(path)
        if hub is None:
            raise EntityNotFound(path)
        return hub
