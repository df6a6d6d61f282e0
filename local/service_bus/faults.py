"""What Service Bus answers when it refuses. Source: Microsoft, "AMQP 1.0 in Azure Service Bus: error conditions"."""

from enum import StrEnum

from local.amqp import AmqpError


class ServiceBusCondition(StrEnum):
    """Error conditions that Service Bus alone has."""

    DEAD_LETTER = "com.microsoft:dead-letter"
    MESSAGE_LOCK_LOST = "com.microsoft:message-lock-lost"
    MESSAGE_NOT_FOUND = "com.microsoft:message-not-found"


class LockLost(AmqpError):
    """The message is not locked by this token: the lock expired, or the message is settled."""

    def __init__(self) -> None:
        text = "The lock supplied is invalid. Either the lock expired, or the message has already been removed "
        text += "from the queue, or was received by a different receiver instance."
        super().__init__(ServiceBusCondition.MESSAGE_LOCK_LOST, text)


class MessageNotFound(AmqpError):
    """No message in the wanted state has this sequence number."""

    def __init__(self, sequence_number: int, state: str) -> None:
        text = f"No {state} message with sequence number {sequence_number} exists."
        super().__init__(ServiceBusCondition.MESSAGE_NOT_FOUND, text)
