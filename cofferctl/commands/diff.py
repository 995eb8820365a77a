"""diff: how the lanes differ between two moments, or from what lies in the work tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import past, patches, ulid
from cofferctl.errors import UsageError
from cofferctl.history.log import History, NoSuchRevision
from cofferctl.selecting import NoSuchFact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cofferctl.coffer import Coffer
    from cofferctl.past import Trace
    from cofferctl.patches import FileDiff
    from cofferctl.store import Store

MOST = 3


class TooManyPlaces(UsageError):
    """More than two moments and a fact."""

    def __init__(self, given: Sequence[str]) -> None:
        super().__init__(
            f"diff takes at most two revisions and a fact, not {len(given)} arguments",
            hint="cofferctl diff [REV] [REV2] [FACT]",
        )


@dataclass(frozen=True, slots=True)
class Differences:
    """The answer: from one commit (None: before the first) to another (None: the work tree)."""

    store: str
    from_: str | None
    to: str | None
    files: tuple[FileDiff, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    """What is compared: commits, and whether the later side is the work tree instead."""

    store: Store
    since: str | None
    until: str | None
    worktree: bool


def diff(
    coffer: Coffer, places: Sequence[str] = (), *, scope: str | None = None, store: str | None = None
) -> Differences:
    """Compare HEAD, a commit or a date with the work tree, or two of those with each other.

    Args:
        coffer: the memory.
        places: up to two commits or dates, then a fact's id or path, each of which may be left out.
        scope: where to look.
        store: one store by name instead.

    Raises:
        TooManyPlaces: more than that.
        NoSuchRevision, NoSuchFact, Ambiguous, PathRefused: one of them names nothing.
    """
    if len(places) > MOST:
        raise TooManyPlaces(places)
    stores = coffer.existing(scope, store)
    revisions, trace = _sorted(coffer, stores, list(places))
    if not stores:
        name = next((found.name for found in coffer.readable(scope, store)), "global")
        return Differences(name, None, None, (), tuple(coffer.notices))
    span = _span(coffer, [trace.store] if trace else stores, revisions)
    history = History(span.store.directory)
    try:
        files = tuple(_files(coffer, history, span, trace))
    finally:
        history.close()
    if not revisions and not trace and scope is None and store is None:
        _elsewhere(coffer, stores[1:])
    return Differences(span.store.name, span.since, span.until, files, tuple(coffer.notices))


def _sorted(coffer: Coffer, stores: Sequence[Store], places: list[str]) -> tuple[list[str], Trace | None]:
    """Moments and the fact; what can be both is a moment."""
    if not places:
        return [], None
    last = places[-1]
    named = "/" in last or last.endswith(".md") or bool(ulid.PATTERN.fullmatch(last.upper()))
    if named or len(places) == MOST or not _is_moment(coffer, stores, last):
        try:
            return places[:-1], past.find(stores, last)
        except NoSuchFact:
            if named or len(places) == MOST:
                raise
            raise NoSuchRevision(last) from None
    return places, None


def _is_moment(coffer: Coffer, stores: Sequence[Store], given: str) -> bool:
    try:
        _span(coffer, stores, [given])
    except NoSuchRevision:
        return False
    return True


def _span(coffer: Coffer, stores: Sequence[Store], revisions: Sequence[str]) -> _Span:
    """The first store that has all the moments, and the commits they are there."""
    unknown: NoSuchRevision | None = None
    for store in stores:
        history = History(store.directory)
        try:
            found = [past.commit_at(history, given, coffer.clock()) for given in revisions]
            since = found[0] if found else history.head()
        except NoSuchRevision as missing:
            unknown = unknown or missing
        else:
            both = len(found) > 1
            return _Span(store, since, found[1] if both else None, not both)
        finally:
            history.close()
    raise unknown or NoSuchRevision(" ".join(revisions))


def _files(coffer: Coffer, history: History, span: _Span, trace: Trace | None) -> Iterator[FileDiff]:
    edits = _edits(coffer, span.store) if span.worktree else {}
    if trace is not None:
        yield from _of_fact(history, span, trace, edits)
        return
    until = history.head() if span.worktree else span.until
    committed = {delta.path: delta for delta in history.changes(span.since, until)}
    for path in sorted(committed.keys() | edits.keys()):
        if not patches.shown(path):
            continue
        if path in edits:
            before = history.content(span.since, path) if span.since else None
            after = edits[path]
        else:
            delta = committed[path]
            before, after = (history.blob(blob) if blob else None for blob in (delta.before, delta.after))
        if before != after:
            yield patches.of(_side(path, before), _side(path, after))


def _of_fact(history: History, span: _Span, trace: Trace, edits: dict[str, bytes | None]) -> Iterator[FileDiff]:
    paths = dict.fromkeys([trace.path, *(delta.path for _, delta in past.entries(history, trace))])
    until = history.head() if span.worktree else span.until

    def at(commit: str | None, over: dict[str, bytes | None]) -> tuple[str, bytes] | None:
        for path in paths:
            data = over[path] if path in over else history.content(commit, path) if commit else None
            if data is not None:
                return path, data
        return None

    before, after = at(span.since, {}), at(until, edits)
    if before != after:
        yield patches.of(before, after)


def _edits(coffer: Coffer, store: Store) -> dict[str, bytes | None]:
    """What the next write will commit as outside edits: path -> bytes, None for deleted."""
    found = store.pending()
    for text in found.notices:
        coffer.notice(text)
    return {**found.contents, **dict.fromkeys(found.deleted)}


def _elsewhere(coffer: Coffer, others: Sequence[Store]) -> None:
    for other in others:
        count = sum(1 for path in _edits(coffer, other) if patches.shown(path))
        if count:
            coffer.notice(f"{other.name}: {count} more edited; see it with --scope {other.scope}")


def _side(path: str, data: bytes | None) -> tuple[str, bytes] | None:
    return (path, data) if data is not None else None
