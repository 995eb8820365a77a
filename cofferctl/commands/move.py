"""move: a fact goes to another store, keeping its id and its bytes; first written there, then deleted here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import fact, secrets, selecting
from cofferctl.errors import UsageError
from cofferctl.inbox import Inbox
from cofferctl.selecting import NoSuchFact
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer
    from cofferctl.history.message import Record
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree

_SCOPES = ("project", "global")


class SameStore(UsageError):
    """The fact is where it was to be moved to."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the fact is in {name} already", hint="name another store with --to")


@dataclass(frozen=True, slots=True)
class Moved:
    """The answer; one operation, a commit in each of the two stores."""

    id: str
    title: str
    source: str
    source_path: str
    store: str
    scope: str
    path: str
    commit: str | None
    operation: str
    notices: tuple[str, ...]


def move(coffer: Coffer, selector: str, to: str, *, scope: str | None = None, store: str | None = None) -> Moved:
    """Move a fact to the project's store, the global one, or a store by name.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: no such fact.
        NoSuchStore, ScopeUnresolved: no such store.
        SameStore: it is there already.
    """
    selected = selecting.select(coffer.existing(scope, store), selector)
    target = coffer.writable(to) if to in _SCOPES else coffer.writable(None, to)
    if target.id == selected.store.id:
        raise SameStore(target.name)
    who, operation = coffer.who(), coffer.new_id()
    record = who.record("memory_moved", f"move: {selected.fact.title}", operation=operation, fact=selected.fact.id)
    data = selected.store.read(selected.fact.path)
    if data is None:
        raise NoSuchFact(selector)
    arrived = target.write(lambda work: _arrive(target, work, data, selected.fact, record), coffer.author(who))
    left = selected.store.write(
        lambda work: Change({selecting.path_of(work, selected): None}, record, selected.fact.path), coffer.author(who)
    )
    coffer.written(target)
    return Moved(
        id=selected.fact.id,
        title=secrets.mask(selected.fact.title),
        source=selected.store.name,
        source_path=left.result,
        store=target.name,
        scope=target.scope,
        path=arrived.result,
        commit=arrived.commit,
        operation=operation,
        notices=(*coffer.notices, *arrived.notices, *left.notices),
    )


def _arrive(target: Store, work: Worktree, data: bytes, moved: fact.Fact, record: Record) -> Change[str]:
    """The fact's file in its new store: its bytes, and its id even if it was only derived from the old path."""
    for path, entry in work.entries.items():
        if entry.id == moved.id.encode() and moved.has_id:
            return Change({}, record, path)  # an earlier move was killed half-way
    content = fact.normalize(data)
    if not moved.has_id and moved.head_ok:
        content = fact.normalize(fact.edit(data, metadata={"original_id": moved.id}))
    month = f"{moved.created_at:%Y-%m}" if moved.created_at else "undated"
    path = Inbox(target.directory).place(moved.title, moved.id, month)
    return Change({path: content}, record, path)
