"""The query language ("NoSQL query language reference"), as far as the app and a person at a prompt need it.

`parse` gives a `Query`; `Query.run` evaluates it over documents; `plan` is what the gateway answers a client that
must run it range by range.
"""

from .plan import check_features, plan
from .query import Query
from .statement_parser import parse

__all__ = ["Query", "check_features", "parse", "plan"]
