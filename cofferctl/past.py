"""A fact's past: where it was, through supersede, move, forget and restore, and what it said then."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import dates, fact, lanes, selecting
from cofferctl.history.log import History, NoSuchRevision
from cofferctl.selecting import NoSuchFact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cofferctl.history.log import Delta, Entry
    from cofferctl.store import Store

_FOLLOWED = frozenset({"memory_superseded", "memory_moved", "memory_restored", "memory_organized", "outside_edit"})
_NEVER_DELETE = frozenset(
    {"memory_added", "memory_updated", "memory_imported", "rule_appended", "journal_append", "handoff_set"}
)
_BIRTHS = frozenset({"memory_added", "memory_imported", "memory_superseded"})
"""What came into a path by these was new: what lay there before was another fact, by chance of the same name."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A fact that is or was in a store, and the path it has or had last."""

    store: Store
    path: str
    id: str
    exists: bool


def find(stores: Sequence[Store], selector: str) -> Trace:
    """The fact a selector names, be it here or forgotten.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: it names none that ever was.
    """
    stores, selector = selecting.in_scope(stores, selector)
    try:
        selected = selecting.select(stores, selector)
    except NoSuchFact as missing:
        found = [one for store in stores for one in _forgotten(store, selector)]
        if not found:
            raise missing from None
        return max(found, key=lambda one: one[0])[1]
    return Trace(selected.store, selected.fact.path, selected.fact.id, exists=True)


def _forgotten(store: Store, selector: str) -> Iterator[tuple[tuple[float, bool], Trace]]:
    """The newest forgotten file of that path or id, and when it went; at one time, forgotten comes after moved."""
    path = lanes.checked_path(selector) if "/" in selector or selector.endswith(".md") else None
    wanted = selector.upper()
    history = History(store.directory)
    work = store.scan()
    try:
        for gone, blob in work.differs.items():  # no commit has noticed yet
            if blob is not None and gone not in work.entries and (path is None or gone == path):
                identifier = fact.parse(gone, history.blob(blob.hex())).id
                if path or identifier.startswith(wanted):
                    yield (math.inf, True), Trace(store, gone, identifier, exists=False)
                    return
        for entry in history.touching(path) if path else history.entries():
            if entry.record.event in _NEVER_DELETE:
                continue
            for delta in entry.deltas:
                if delta.before is None or delta.after is not None or (path and delta.path != path):
                    continue
                identifier = fact.parse(delta.path, history.blob(delta.before)).id
                if path or identifier.startswith(wanted):
                    when = (entry.time, entry.record.event != "memory_moved")
                    yield when, Trace(store, delta.path, identifier, exists=False)
                    return
    finally:
        history.close()


def commit_at(history: History, given: str, now: datetime) -> str | None:
    """The commit meant by a revision, else the last one before a date: `20260609` can be both.

    Args:
        history: the store's.
        given: what was typed.
        now: the time now, for dates like `2w`.

    Returns:
        Its id; None when the date is before the first commit.

    Raises:
        NoSuchRevision: it is neither.
    """
    try:
        return history.resolve(given)
    except NoSuchRevision as unknown:
        try:
            return history.at(dates.parse(given, now))
        except dates.BadDate:
            raise unknown from None


def entries(history: History, trace: Trace) -> Iterator[tuple[Entry, Delta]]:
    """The commits that touched a fact, newest first, with what each did to its file; followed from path to path."""
    followed = {trace.path}
    ids = {trace.id}
    begun = trace.exists
    for entry in history.touching_any(followed):
        begun = begun or any(_is(history, trace, delta) for delta in entry.deltas)
        if not begun:  # its path was given to another fact since
            continue
        if entry.record.event in _FOLLOWED:
            for delta in entry.deltas:
                if delta.path in followed and delta.before is None:
                    followed |= _sources(history, entry, delta, ids)
        born = set()
        for delta in entry.deltas:
            if delta.path in followed:
                yield entry, delta
                if delta.before is None and entry.record.event in _BIRTHS:
                    born.add(delta.path)
        followed -= born
        if not followed:
            return


def _is(history: History, trace: Trace, delta: Delta) -> bool:
    """Whether a change of a path is one of a forgotten fact's own file."""
    blob = delta.before or delta.after
    if delta.path != trace.path or blob is None:
        return False
    found = fact.parse(delta.path, history.blob(blob))
    return found.id == trace.id or not found.has_id


def _sources(history: History, entry: Entry, arrived: Delta, ids: set[str]) -> set[str]:
    """Where a file that a commit added came from: files the commit removed that are the same fact, or an older one."""
    if arrived.after is not None:
        parsed = fact.parse(arrived.path, history.blob(arrived.after))
        ids |= {parsed.id, *filter(None, (parsed.metadata.get(key) for key in ("supersedes", "original_id")))}
    return {
        delta.path
        for delta in entry.deltas
        if delta.before is not None
        and delta.after is None
        and fact.parse(delta.path, history.blob(delta.before)).id in ids
    }
