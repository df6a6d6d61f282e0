"""The ports that the parts listen on."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Ports:
    """One port a listener; 0 lets the system choose a free one."""

    service_bus: int = 5672
    """AMQP."""
    service_bus_control: int = 5673
    """The broker's clock and counters."""
    event_hubs: int = 5674
    """AMQP of the event stream."""
    event_hubs_control: int = 5675
    """Its clock and counters."""
    cosmos: int = 8081
    """The database, its control endpoints included."""
    host: int = 7071
    """HTTP triggers and the host's status."""
    azurite_blob: int = 10000
    """Blob storage."""
    azurite_queue: int = 10001
    """Queue storage."""
    azurite_table: int = 10002
    """Table storage."""
    monitor: int = 8087
    """Where the app sends metrics, traces and logs."""


WELL_KNOWN = Ports()
"""Where tools and samples expect the emulators."""

FREE = Ports(**{each.name: 0 for each in fields(Ports)})
"""Whatever is free: any number of stacks side by side."""
