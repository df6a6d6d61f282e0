"""The Service Bus broker: which links lead where. Implements the engine's Container."""

from collections.abc import Mapping

from local.amqp import AmqpError, Condition, IncomingLink, OutgoingLink
from local.broker import CBS_NODE, Clock, RequestNodes, entity_path, put_token

from .encoding import MAX_MESSAGE_SIZE
from .management import Management
from .queue import Queue
from .receivers import Dispatcher
from .senders import Sender
from .topology import QueueSettings

MANAGEMENT_SUFFIX = "/$management"
SESSION_FILTER = "com.microsoft:session-filter"


class Broker:
    """A namespace with its queues."""

    def __init__(self, queues: Mapping[str, QueueSettings], clock: Clock) -> None:
        self._queues = {settings.name: Queue(settings, clock) for settings in queues.values()}
        self._dispatchers: dict[str, Dispatcher] = {}  # by entity path in lower case, dead-letter queues included
        self._entities: dict[str, Queue] = {}
        for queue in self._queues.values():
            self._add(queue)
            if queue.dead_letter_queue is not None:
                self._add(queue.dead_letter_queue)
        self._requests = RequestNodes()

    def on_attach(self, link: IncomingLink | OutgoingLink) -> None:
        """Let a client send, receive or manage, or tell it why not."""
        try:
            self._attach(link)
        except AmqpError as error:
            link.refuse(error)

    def tick(self) -> None:
        """Do what the clock has made due, so that waiting receivers get what it sets free."""
        for queue in self._entities.values():
            queue.catch_up()

    def statistics(self) -> dict[str, dict[str, int]]:
        """What happened so far, by queue."""
        return {name: queue.statistics() for name, queue in self._queues.items()}

    def _add(self, queue: Queue) -> None:
        path = queue.settings.name.lower()
        self._entities[path] = queue
        self._dispatchers[path] = Dispatcher(queue)

    def _attach(self, link: IncomingLink | OutgoingLink) -> None:
        if link.is_coordinator:
            raise AmqpError(Condition.NOT_IMPLEMENTED, "Transactions are not supported by the local broker.")
        path = entity_path(link.target_address if isinstance(link, IncomingLink) else link.source_address)
        if path == CBS_NODE:
            self._requests.attach(link, path, put_token, MAX_MESSAGE_SIZE)
        elif path.endswith(MANAGEMENT_SUFFIX):
            management = Management(self._find(path.removesuffix(MANAGEMENT_SUFFIX)))
            self._requests.attach(link, path, management.handle, MAX_MESSAGE_SIZE)
        elif isinstance(link, IncomingLink):
            self._attach_sender(link, path)
        else:
            self._attach_receiver(link, path)

    def _attach_sender(self, link: IncomingLink, path: str) -> None:
        queue = self._find(path)
        if queue.dead_letter_queue is None:
            raise AmqpError(
                Condition.NOT_ALLOWED, f"Nobody can send to '{path}'; the broker alone puts messages there."
            )
        link.accept(Sender(queue), MAX_MESSAGE_SIZE)

    def _attach_receiver(self, link: OutgoingLink, path: str) -> None:
        self._find(path)
        if SESSION_FILTER in link.filters:
            text = f"'{path}' does not require sessions: a session receiver cannot be created for it."
            raise AmqpError(Condition.NOT_ALLOWED, text)
        link.accept(self._dispatchers[path].attach(link), MAX_MESSAGE_SIZE)

    def _find(self, path: str) -> Queue:
        queue = self._entities.get(path)
        if queue is None:
            raise AmqpError(Condition.NOT_FOUND, f"The messaging entity '{path}' could not be found.")
        return queue
