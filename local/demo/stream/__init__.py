"""Stock movements through Event Hubs: what is sent, what happens meanwhile, and what has to be found."""

from .evidence import gather_evidence
from .ledger import Ledger, reckon, rows, wrong_levels
from .plan import Plan, draw, outlook
from .story import tell

__all__ = ["Ledger", "Plan", "draw", "gather_evidence", "outlook", "reckon", "rows", "tell", "wrong_levels"]
