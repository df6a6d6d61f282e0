"""What Event Hubs answers when it refuses. Texts are the service's where public reports show them.

Source of the conditions: Microsoft, "AMQP 1.0 in Azure Service Bus and Event Hubs: error conditions".
"""

from enum import StrEnum

from local.amqp import AmqpError, Condition
from local.broker import InvalidRequest, MicrosoftCondition


class ReceiverCondition(StrEnum):
    """Why a receiver is not let in, or is put out."""

    STOLEN = "amqp:link:stolen"
    RESOURCE_LIMIT_EXCEEDED = "amqp:resource-limit-exceeded"


class EntityNotFound(AmqpError):
    """There is no such event hub or consumer group."""

    def __init__(self, entity: str) -> None:
        super().__init__(Condition.NOT_FOUND, f"The messaging entity '{entity}' could not be found.")


class PartitionNotFound(InvalidRequest):
    """The event hub has no such partition."""

    def __init__(self, partition_count: int) -> None:
        text = "The specified partition is invalid for an EventHub partition sender or receiver. "
        text += f"It should be between 0 and {partition_count - 1}."
        super().__init__(text, MicrosoftCondition.ARGUMENT_OUT_OF_RANGE)


class PositionInvalid(InvalidRequest):
    """A receiver wants to start behind the end of the partition: its checkpoint is of another partition's life."""

    def __init__(self, what: str, value: int, last: int) -> None:
        super().__init__(f"The supplied {what} '{value}' is invalid. The last {what} in the system is '{last}'")


class ReceiverStolen(AmqpError):
    """Another receiver has, or takes, the partition."""

    def __init__(self, description: str) -> None:
        super().__init__(ReceiverCondition.STOLEN, description)


class TooManyReceivers(AmqpError):
    """No more receivers without epoch are let in."""

    def __init__(self, limit: int, names: list[str]) -> None:
        text = "Exceeded the maximum number of allowed receivers per partition in a consumer group "
        text += f"which is {limit}. List of connected receivers - {', '.join(names)}."
        super().__init__(ReceiverCondition.RESOURCE_LIMIT_EXCEEDED, text)
