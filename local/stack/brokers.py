"""What the two brokers' parts share: the form of a client's connection string."""


def emulator_connection_string(amqp_port: int) -> str:
    """For the real SDKs, in the form that Microsoft's pages on the Service Bus and Event Hubs emulators give."""
    key = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"
    return f"Endpoint=sb://localhost:{amqp_port};{key};UseDevelopmentEmulator=true;"
