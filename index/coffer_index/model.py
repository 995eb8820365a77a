"""What goes into the index and what comes out of it: plain values and the errors, nothing that does work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """One searchable document; one file may hold several (a journal day holds one per entry).

    Attributes:
        path: file it lives in, '/' separated, relative.
        id: the owner's id of the fact.
        title: title in words, weighted above the body.
        description: one more line about it, weighted like a heading.
        lane: 'inbox', 'topics', 'journal': opaque here, a filter in `search`.
        body: the text to search.
        offset: where `body` starts in the file's decoded text, in characters.
        time: POSIX seconds, for `since` and for hits.
        day: ISO day ('2026-06-09'), made searchable in ISO form and in words; '' for none.
        passages: how many passages of it one answer may show, each under another heading (1 = an inbox fact).
        extra: opaque, handed back with each hit.
    """

    path: str
    id: str
    title: str
    description: str
    lane: str
    body: str
    offset: int
    time: float
    day: str
    passages: int
    extra: str


Loader = Callable[[str], Sequence[Document]]
"""Path -> its documents. OSError means the file is gone; any other exception skips this one file and names it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage that answers a query; the owner reads its text from the file itself.

    Attributes:
        path, blob, id, title, lane, time, extra: of the document, as it was indexed ('' as blob when grepped).
        start, end: span of the passage in the file's decoded text, in characters.
        heading: the headings above the passage, outermost first, joined by ' > '.
        score: BM25-like score (keyword) or number of matches (grep); comparable inside one answer only.
        digest: short hash of the passage's normalised text, for folding equal texts.
        count: how many equal texts were folded into this hit.
        terms: the query's terms found in it.
        ranks: (retriever, rank from 1, score) for each retriever that found it.
    """

    path: str
    blob: str
    id: str
    title: str
    lane: str
    time: float
    extra: str
    start: int
    end: int
    heading: str
    score: float
    digest: str
    count: int = 1
    terms: tuple[str, ...] = ()
    ranks: tuple[tuple[str, int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What `Index.reconcile` did.

    Attributes:
        state: 'current' (nothing to do), 'updated', 'rebuilt', or 'stale' (the writer is busy: old answers).
        documents: number of documents (re)read in this call.
        skipped: paths whose loader failed; their old passages are gone.
    """

    state: str
    documents: int
    skipped: tuple[str, ...] = ()


class IndexDamaged(Exception):
    """The index broke while it was searched: call `Index.discard()`, reconcile again and retry once."""


class InvalidPattern(ValueError):
    """The pattern is not a regular expression; the message says where it breaks."""


class PatternTooSlow(TimeoutError):
    """The pattern took longer than its time limit."""
