"""Request charges: a formula near the service's published figures, so that code which adds up charges has numbers.

Source of fact: "Azure Cosmos DB as a key value store – cost overview": reading 1 KB costs 1 RU and 100 KB costs 10,
writing 1 KB costs 5 RU and 100 KB costs 50. Between them: a straight line over whole kilobytes. Indexing adds to the
real charge of a write, with the number of indexed properties; that is left out here.
"""

READ_FIRST_KILOBYTE = 1.0
READ_EACH_FURTHER_KILOBYTE = 9.0 / 99.0  # from 1 RU at 1 KB to 10 RU at 100 KB
WRITE_TIMES_READ = 5.0
REFUSED = 1.0  # 404, 409, 412: the item had to be looked up, so it is paid like a point read
QUERY = 2.3  # the least that a query is seen to cost
QUERY_EACH_KILOBYTE = 0.1
_KILOBYTE = 1024


def read(size: int) -> float:
    """Request units to read an item of `size` bytes."""
    return READ_FIRST_KILOBYTE + (_kilobytes(size) - 1) * READ_EACH_FURTHER_KILOBYTE


def write(size: int) -> float:
    """Request units to create, replace, patch or delete an item of `size` bytes."""
    return WRITE_TIMES_READ * read(size)


def query(size: int) -> float:
    """Request units of one page of results of `size` bytes."""
    return QUERY + _kilobytes(size) * QUERY_EACH_KILOBYTE


def _kilobytes(size: int) -> int:
    return max(1, -(-size // _KILOBYTE))
