"""What Microsoft's brokers answer when they refuse. Source: Microsoft, "AMQP 1.0 in Azure: error conditions"."""

from enum import StrEnum

from local.amqp import AmqpError


class MicrosoftCondition(StrEnum):
    """Error conditions of Microsoft's own that Service Bus and Event Hubs share."""

    ARGUMENT_ERROR = "com.microsoft:argument-error"
    ARGUMENT_OUT_OF_RANGE = "com.microsoft:argument-out-of-range"
    AUTH_FAILED = "com.microsoft:auth-failed"


class InvalidRequest(AmqpError):
    """The client sent something that the service does not take."""

    def __init__(self, description: str, condition: str = MicrosoftCondition.ARGUMENT_ERROR) -> None:
        super().__init__(condition, description)
