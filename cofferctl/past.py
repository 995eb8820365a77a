"""A fact's past: where it was, through supersede, move, forget and restore, and what it said then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import fact, lanes, selecting
from cofferctl.history.log import History
from cofferctl.selecting import NoSuchFact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cofferctl.history.log import Delta, Entry
    from cofferctl.store import Store

_FOLLOWED = frozenset({"memory_superseded", "memory_moved", "memory_restored", "memory_organized", "outside_edit"})
_NEVER_DELETE = frozenset(
    {"memory_added", "memory_updated", "memory_imported", "rule_appended", "journal_append", "handoff_set"}
)


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
    try:
        selected = selecting.select(stores, selector)
    except NoSuchFact as missing:
        found = next((trace for store in stores for trace in _forgotten(store, selector)), None)
        if found is None:
            raise missing from None
        return found
    return Trace(selected.store, selected.fact.path, selected.fact.id, exists=True)


def _forgotten(store: Store, selector: str) -> Iterator[Trace]:
    """The newest forgotten file of that path or id."""
    path = lanes.checked_path(selector) if "/" in selector or selector.endswith(".md") else None
    wanted = selector.upper()
    history = History(store.directory)
    work = store.scan()
    try:
        for gone, blob in work.differs.items():  # no commit has noticed yet
            if blob is not None and gone not in work.entries and (path is None or gone == path):
                identifier = fact.parse(gone, history.blob(blob.hex())).id
                if path or identifier.startswith(wanted):
                    yield Trace(store, gone, identifier, exists=False)
                    return
        for entry in history.touching(path) if path else history.entries():
            if entry.record.event in _NEVER_DELETE:
                continue
            for delta in entry.deltas:
                if delta.before is None or delta.after is not None or (path and delta.path != path):
                    continue
                identifier = fact.parse(delta.path, history.blob(delta.before)).id
                if path or identifier.startswith(wanted):
                    yield Trace(store, delta.path, identifier, exists=False)
                    return
    finally:
        history.close()


def entries(history: History, trace: Trace) -> Iterator[tuple[Entry, Delta]]:
    """The commits that touched a fact, newest first, with what each did to its file; followed from path to path."""
    followed = {trace.path}
    ids = {trace.id}
    for entry in history.touching_any(followed):
        if entry.record.event in _FOLLOWED:
            for delta in entry.deltas:
                if delta.path in followed and delta.before is None:
                    followed |= _sources(history, entry, delta, ids)
        for delta in entry.deltas:
            if delta.path in followed:
                yield entry, delta


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
