"""A stand-in for Azure Cosmos DB (NoSQL) on this machine: the REST API that the public SDKs speak, over SQLite.

Start reading at `store.py` (what a transaction is) and `gateway.py` (where a request goes). What differs from the
service is listed in local/README.md.
"""

from .auth import EMULATOR_KEY
from .clock import Clock
from .faults import Fault, When
from .holds import Held
from .journal import Entry
from .service import Cosmos

__all__ = ["EMULATOR_KEY", "Clock", "Cosmos", "Entry", "Fault", "Held", "When"]
