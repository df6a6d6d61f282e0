"""Idempotent consumers: at-least-once delivery, effectively-once result, within the retention window.

This module is the front door; `__all__` is the API. Standard library only. Copy the folder and one store.
"""

from .cache import CompletedMarkers
from .clock import Clock, SystemClock
from .consumer import Handler, IdempotentConsumer
from .delivery import Delivery, Property
from .errors import (
    AlreadyExists,
    CommitConflict,
    Conflict,
    Doubtful,
    FingerprintMismatch,
    IdentityMismatch,
    Malformed,
    NoStableKey,
    PreconditionFailed,
    Reason,
    Refused,
    Rejection,
    Superseded,
    TooLarge,
    TransientFailure,
)
from .fingerprint import Fingerprint, Form
from .hooks import DeliveryEnded, Event, Hook, Parked, Retrying, SettlementFailed, StoreCall, silent
from .keys import DeduplicationKey, KeyPart
from .marker import Marker
from .outcome import Duplicate, Json, Outcome, Processed, Rejected, Stale
from .placement import EntityAsMarker, InboxMarker, Placement
from .retention import RetentionWindow
from .unit_of_work import Body, Create, Delete, Document, Operation, Replace, Store, UnitOfWork, Upsert

__all__ = [
    "AlreadyExists",
    "Body",
    "Clock",
    "CommitConflict",
    "CompletedMarkers",
    "Conflict",
    "Create",
    "DeduplicationKey",
    "Delete",
    "Delivery",
    "DeliveryEnded",
    "Document",
    "Doubtful",
    "Duplicate",
    "EntityAsMarker",
    "Event",
    "Fingerprint",
    "FingerprintMismatch",
    "Form",
    "Handler",
    "Hook",
    "IdempotentConsumer",
    "IdentityMismatch",
    "InboxMarker",
    "Json",
    "KeyPart",
    "Malformed",
    "Marker",
    "NoStableKey",
    "Operation",
    "Outcome",
    "Parked",
    "Placement",
    "PreconditionFailed",
    "Processed",
    "Property",
    "Reason",
    "Refused",
    "Rejected",
    "Rejection",
    "Replace",
    "RetentionWindow",
    "Retrying",
    "SettlementFailed",
    "Stale",
    "Store",
    "StoreCall",
    "Superseded",
    "SystemClock",
    "TooLarge",
    "TransientFailure",
    "UnitOfWork",
    "Upsert",
    "silent",
]
