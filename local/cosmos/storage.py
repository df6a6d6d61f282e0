"""The SQLite file under the stand-in.

SQLite calls run inline on the event loop. They are short (a batch of four creates, with everything around it, takes
about 0.7 ms of processor time), and running them without an `await` in between is what makes every transaction serial,
as on the service's primary replica. Handing them to a thread would cost a switch for each and gain nothing: SQLite
writes one transaction at a time. The exception is a query over a whole large container, which blocks while it runs.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

# WAL with synchronous=NORMAL: a commit is in the operating system's hands before it is answered, so nothing
# acknowledged is lost when this process is killed. Only a power cut could lose the last commits, and a developer's
# stand-in does not promise to survive that; FULL would pay one fsync for each commit.
_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS databases(name TEXT PRIMARY KEY, definition TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS containers(
    rid TEXT PRIMARY KEY, database TEXT NOT NULL REFERENCES databases(name), definition TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ranges(
    container TEXT NOT NULL REFERENCES containers(rid) ON DELETE CASCADE, id TEXT NOT NULL,
    low TEXT NOT NULL, high TEXT NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY(container, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items(
    container TEXT NOT NULL REFERENCES containers(rid) ON DELETE CASCADE,
    partition_key TEXT NOT NULL, id TEXT NOT NULL, range_id TEXT NOT NULL, effective_key TEXT NOT NULL,
    number INTEGER NOT NULL, version INTEGER NOT NULL, lsn INTEGER NOT NULL, written_at REAL NOT NULL, ttl INTEGER,
    etag TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(container, partition_key, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS items_by_change ON items(container, range_id, lsn, version);
CREATE INDEX IF NOT EXISTS items_by_number ON items(container, number);
CREATE TABLE IF NOT EXISTS unique_values(
    container TEXT NOT NULL REFERENCES containers(rid) ON DELETE CASCADE,
    partition_key TEXT NOT NULL, key INTEGER NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL,
    PRIMARY KEY(container, partition_key, key, value)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS offers(rid TEXT PRIMARY KEY, definition TEXT NOT NULL) WITHOUT ROWID;
"""


def open_storage(path: str) -> sqlite3.Connection:
    """Open, and create where missing, the file at `path` (":memory:" keeps everything in memory)."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(_PRAGMAS + _SCHEMA)
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing: what happens inside is kept if the block ends well, and undone if it raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
