"""The least a broker can be: one node that keeps messages in a list. No Service Bus in sight."""

from local.amqp import AmqpError, Condition, IncomingDelivery, IncomingLink, Outcome, OutgoingLink

MAX_MESSAGE_SIZE = 200_000


class Shelf:
    """A container with one node, `shelf`: what is sent there is kept, and given to whoever grants credit."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.outcomes: list[Outcome] = []
        self.detached = 0
        self._link: OutgoingLink | None = None

    def on_attach(self, link: IncomingLink | OutgoingLink) -> None:
        if isinstance(link, IncomingLink):
            if link.target_address != "shelf":
                link.refuse(AmqpError(Condition.NOT_FOUND, "only the shelf is here"))
                return
            link.accept(self, MAX_MESSAGE_SIZE)
        else:
            self._link = link
            link.accept(self, MAX_MESSAGE_SIZE)

    def on_message(self, delivery: IncomingDelivery) -> None:
        if delivery.encoded == b"bad":
            raise AmqpError(Condition.NOT_ALLOWED, "bad message")
        self.messages.append(delivery.encoded)
        delivery.accept()

    def on_credit(self) -> None:
        assert self._link is not None
        while self.messages and self._link.credit > 0:
            self._link.send(self.messages.pop(0), b"tag", settled=self._link.wants_settled)

    def on_outcome(self, tag: bytes, outcome: Outcome) -> Outcome:
        assert tag == b"tag"
        self.outcomes.append(outcome)
        return outcome

    def on_detached(self) -> None:
        self.detached += 1
