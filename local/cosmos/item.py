"""A stored item: what the service keeps about a document, and how it shows it."""

import json
from dataclasses import dataclass, fields

from .container import Container, Document
from .identifiers import document_rid

SYSTEM_PROPERTIES = ("_rid", "_self", "_etag", "_attachments", "_ts", "_lsn")


@dataclass(frozen=True, slots=True)
class Item:
    """One document at its latest version."""

    partition_key: str  # canonical value
    id: str
    range_id: str  # partition key range that holds it
    effective_key: str  # effective partition key, hex
    number: int  # running number; stable while the item lives, the order in which queries read
    version: int  # running number of writes; the order of changes inside one transaction
    lsn: int  # log sequence number of the transaction that wrote it
    written_at: float  # seconds since 1970; `_ts` is its whole part
    ttl: int | None  # the document's own time to live
    etag: str
    body: str  # the document as JSON, without system properties

    @property
    def size(self) -> int:
        """Bytes that count for charges."""
        return len(self.body.encode())

    def rendered(self, container: Container, with_lsn: bool = False) -> str:
        """The document as answered to clients: JSON text with the system properties last."""
        rid = document_rid(container.rid, self.number)
        system: Document = {
            "_rid": rid,
            "_self": f"{container.link}docs/{rid}/",
            "_etag": self.etag,
            "_attachments": "attachments/",
            "_ts": int(self.written_at),
        }
        if with_lsn:
            system["_lsn"] = self.lsn
        # Appending text spares parsing and printing the whole document for each read; a document is never empty.
        return f"{self.body[:-1]},{compact(system)[1:]}"


COLUMNS = tuple(field.name for field in fields(Item))


def compact(value: object) -> str:
    """JSON without spaces. Lone surrogates, which no UTF-8 can carry, stay escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text if text.isascii() or _encodes(text) else json.dumps(value, separators=(",", ":"))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
