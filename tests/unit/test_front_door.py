"""The front door of the library: what `shared.idempotency` offers, and nothing else."""

import ast
import sys
from pathlib import Path

import shared.idempotency as library

FOLDER = Path(library.__file__).parent


def test_the_front_door_offers_what_it_lists():
    """Every name of `__all__` is there, in order, and every public name that is imported is listed."""
    imported = {
        alias.name
        for node in ast.parse((FOLDER / "__init__.py").read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert list(library.__all__) == sorted(library.__all__)
    assert set(library.__all__) == imported


def test_the_api_is_pinned():
    """A name that appears or goes is a decision: change it here, and say so in the changelog."""
    assert set(library.__all__) == API


def test_the_library_needs_the_standard_library_only():
    """A person who copies the folder needs nothing else."""
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Import(names=names):
                    modules = [alias.name for alias in names]
                case ast.ImportFrom(module=str(module), level=0):
                    modules = [module]
                case _:
                    continue
            assert all(module.partition(".")[0] in sys.stdlib_module_names for module in modules), file.name


API = {
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
}
