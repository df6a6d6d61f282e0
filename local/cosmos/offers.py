"""Offers: the throughput that was asked for. It is remembered and answered; nothing here is throttled by it."""

import itertools
import json
import sqlite3
from collections.abc import Mapping

from .clock import Clock
from .container import Document
from .errors import bad_request
from .identifiers import Etags
from .item import compact

DEFAULT_RU = 400  # "Azure Cosmos DB service quotas": the least that a container with throughput of its own gets
_AUTOSCALE_FLOOR = 10  # an autoscale offer starts at a tenth of its maximum


class Offers:
    """One offer for each database or container that has throughput of its own."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock, etags: Etags) -> None:
        self._connection = connection
        self._clock = clock
        self._etags = etags
        used = connection.execute("SELECT MAX(CAST(rid AS INTEGER)) FROM offers").fetchone()[0]
        self._numbers = itertools.count((used or 0) + 1)

    def all(self) -> list[Document]:
        return [json.loads(text) for (text,) in self._connection.execute("SELECT definition FROM offers ORDER BY rid")]

    def get(self, rid: str) -> Document | None:
        row = self._connection.execute("SELECT definition FROM offers WHERE rid = ?", (rid,)).fetchone()
        return json.loads(row[0]) if row else None

    def of(self, link: str) -> Document | None:
        """The offer of the database or container with this `_self` link."""
        return next((offer for offer in self.all() if offer["resource"] == link), None)

    def create(self, resource: Document, throughput: "Throughput") -> None:
        rid = f"{next(self._numbers):04d}"
        content = {"offerIsRUPerMinuteThroughputEnabled": False, **throughput.content()}
        self._save(
            {
                "resource": resource["_self"],
                "offerResourceId": resource["_rid"],
                "offerType": "Invalid",
                "offerVersion": "V2",
                "content": content,
                "id": rid,
                "_rid": rid,
                "_self": f"offers/{rid}/",
            }
        )

    def replace(self, offer: Document, body: Document) -> Document:
        return self._save({**offer, "content": body["content"]})

    def forget(self, link: str) -> None:
        """Drop the offers of a resource and of all below it."""
        for offer in self.all():
            if offer["resource"].startswith(link):
                self._connection.execute("DELETE FROM offers WHERE rid = ?", (offer["_rid"],))

    def _save(self, offer: Document) -> Document:
        offer = {**offer, "_etag": self._etags.next(), "_ts": int(self._clock.now())}
        self._connection.execute("INSERT OR REPLACE INTO offers VALUES(?, ?)", (offer["_rid"], compact(offer)))
        return offer


class Throughput:
    """What a request to create a database or container asks for."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        """CosmosError 400 if the headers make no sense."""
        autoscale = headers.get("x-ms-cosmos-offer-autopilot-settings")
        manual = headers.get("x-ms-offer-throughput")
        try:
            self._autoscale = json.loads(autoscale) if autoscale else None
            self._manual = int(manual) if manual else None
            self.most = int(self._autoscale["maxThroughput"]) if self._autoscale else self._manual
        except (ValueError, KeyError, TypeError):
            raise bad_request("The throughput asked for is invalid.") from None

    def content(self) -> Document:
        if self._autoscale and self.most:
            return {"offerThroughput": self.most // _AUTOSCALE_FLOOR, "offerAutopilotSettings": self._autoscale}
        return {"offerThroughput": self.most or DEFAULT_RU}
