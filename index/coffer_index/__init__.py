"""A disposable keyword index over Markdown files: given paths, blob ids and a way to read them, it ranks passages."""

from coffer_index.analyze import query_terms
from coffer_index.chunk import Passage, passages
from coffer_index.fuse import fuse
from coffer_index.grep import grep
from coffer_index.model import Document, Hit, IndexDamaged, InvalidPattern, Loader, PatternTooSlow, Reconciled
from coffer_index.reconcile import Index

__all__ = [
    "Document",
    "Hit",
    "Index",
    "IndexDamaged",
    "InvalidPattern",
    "Loader",
    "Passage",
    "PatternTooSlow",
    "Reconciled",
    "fuse",
    "grep",
    "passages",
    "query_terms",
]
