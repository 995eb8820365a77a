"""One search over the lanes of one store: bring the index up to date, rank, and read the passages from the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import fact, worktree
from cofferctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coffer_index import Hit, Index
    from cofferctl.coffer import Coffer
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree

ATTEMPTS = 4
WAIT_SECONDS = 2.0
"""How long a search waits for another process that is indexing, before it answers from what there is."""
FIRST_WAIT_SECONDS = 30.0
"""The same while there is nothing to answer from yet."""


class BadPattern(UsageError):
    """A regular expression that is none, or that takes too long."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the pattern cannot be used: {why}", hint="without --regex the text is taken as it is")


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for.

    Attributes:
        text: words, or for grep a text or pattern.
        mode: keyword or grep.
        limit: hits at most.
        lanes: lanes to look in, None for all that are searched.
        since: POSIX seconds; older facts are left out.
        regex: grep: the text is a regular expression.
        ignore_case: grep.
    """

    text: str
    mode: str
    limit: int
    lanes: frozenset[str] | None = None
    since: float | None = None
    regex: bool = False
    ignore_case: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """A hit and the text it stands for, read from the work tree."""

    hit: Hit
    text: str


def search(coffer: Coffer, store: Store, query: Query) -> list[Found]:
    """Look in one store.

    The answer shows the files as they are: a hit whose file changed between ranking and reading is ranked again.
    """
    found: list[Found] = []
    for _ in range(ATTEMPTS):
        work = store.scan()
        for path, why in work.odd.items():
            if why not in _SILENT:
                coffer.notice(f"{store.name}:{path} is not searched ({why})")
        hits = _grep(coffer, store, work, query) if query.mode == "grep" else _ranked(coffer, store, work, query)
        texts = [_passage(store, hit) for hit in hits]
        found = [Found(hit, text) for hit, text in zip(hits, texts, strict=True) if text is not None]
        if len(found) == len(hits):
            break
    return found


_SILENT = ("not a regular file", "a directory")


def _ranked(coffer: Coffer, store: Store, work: Worktree, query: Query) -> Sequence[Hit]:
    from coffer_index import IndexDamaged  # noqa: PLC0415

    index = coffer.index(store)
    for last in (False, True):
        try:
            files = refresh(coffer, store, index, work)
            return index.search(query.text, limit=query.limit, files=files, lanes=query.lanes, since=query.since)
        except IndexDamaged:
            if last:
                raise
            index.discard()
    return ()


def refresh(
    coffer: Coffer, store: Store, index: Index, work: Worktree, *, full: bool = False
) -> Mapping[str, str] | None:
    """Bring a store's index to the state of its lanes; the files that answers must be checked against, if any.

    Args:
        coffer: for progress and notices.
        store: whose index it is.
        index: the index.
        work: the lanes as they are.
        full: build it anew even if it is current.
    """
    blobs = work.blobs()
    report = coffer.progress
    state = index.status(work.fingerprint)
    if state == "current" and not full:
        return blobs
    done = index.reconcile(
        blobs,
        work.fingerprint,
        coffer.loader(store),
        wait=FIRST_WAIT_SECONDS if state == "missing" else WAIT_SECONDS,
        full=full,
        progress=(lambda now, of: report("indexing", now, of)) if report else None,
    )
    for path in done.skipped:
        coffer.notice(f"{store.name}:{path} could not be read and is not searched")
    if done.state != "stale":
        return None
    coffer.notice(
        f"the search index of {store.name} is being rebuilt by another process; newest changes may be missing"
    )
    return blobs


def _grep(coffer: Coffer, store: Store, work: Worktree, query: Query) -> Sequence[Hit]:
    from coffer_index import InvalidPattern, PatternTooSlow, grep  # noqa: PLC0415

    try:
        return grep(
            query.text,
            work.entries,
            coffer.loader(store),
            regex=query.regex,
            ignore_case=query.ignore_case,
            limit=query.limit,
            lanes=query.lanes,
            since=query.since,
        )
    except (InvalidPattern, PatternTooSlow) as error:
        raise BadPattern(str(error)) from error


def _passage(store: Store, hit: Hit) -> str | None:
    """The hit's text as the file holds it now; None when the file is not the one that was indexed."""
    data = store.read(hit.path)
    if data is None or (hit.blob and worktree.blob_id(fact.normalize(data)).hex() != hit.blob):
        return None
    return fact.decode(data)[hit.start : hit.end]


def similar(
    coffer: Coffer, store: Store, text: str, *, files: Mapping[str, str], limit: int, share: float
) -> list[Hit]:
    """Facts the index, as it stands, finds to hold at least a share of a text's words.

    Args:
        coffer: opens the index.
        store: where to look.
        text: a new fact's text.
        files: path -> blob id of what is there; other hits are out of date.
        limit: hits at most.
        share: of the text's distinct terms, from 0 to 1.
    """
    from coffer_index import query_terms  # noqa: PLC0415

    index = coffer.index(store)
    if index.status("") == "missing":
        return []
    terms = set(query_terms(text))
    hits = index.search(text, limit=limit, files=files)
    return [hit for hit in hits if terms and len(set(hit.terms) & terms) >= share * len(terms)]
