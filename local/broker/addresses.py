"""Addresses of entities. Source: Microsoft, "AMQP 1.0 in Azure Service Bus and Event Hubs protocol guide"."""

import re

# An address may be a URL; the entity is its path.
ADDRESS = re.compile(r"(?:[a-z]+://[^/]*)?/?(?P<path>.*?)/?", re.IGNORECASE)


def entity_path(address: str) -> str:
    """The path of an entity, in lower case: the services do not mind the case."""
    match = ADDRESS.fullmatch(address)
    return match["path"].lower() if match else address.lower()
