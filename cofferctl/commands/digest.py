"""digest: what was learnt, changed and forgotten lately, and by whom."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cofferctl import dates, documents, fact, lanes, secrets
from cofferctl.commands.log import SLACK_SECONDS
from cofferctl.errors import CofferError, ExitCode
from cofferctl.history.log import History, NoSuchRevision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cofferctl.coffer import Coffer
    from cofferctl.fact import Fact
    from cofferctl.history.log import Delta, Entry
    from cofferctl.store import Store

SINCE = "7d"
LAST_SESSION = "last-session"
KINDS = ("learnt", "changed", "forgotten")


class NoSession(CofferError):
    """No agent ever stored anything under a session."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self) -> None:
        super().__init__("no agent's session in the history", hint="give --since a date or a commit")


@dataclass(frozen=True, slots=True)
class Item:
    """One fact that something happened to; `old_title` when it had another one before."""

    id: str
    title: str
    old_title: str | None
    event: str
    time: str
    who: str
    actor: str
    agent: str | None
    session: str | None
    store: str
    scope: str
    path: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class Share:
    """What one person or agent did."""

    who: str
    learnt: int
    changed: int
    forgotten: int


@dataclass(frozen=True, slots=True)
class Digest:
    """The answer, newest first in each part."""

    since: str
    learnt: tuple[Item, ...]
    changed: tuple[Item, ...]
    forgotten: tuple[Item, ...]
    by: tuple[Share, ...]
    commits: int
    notices: tuple[str, ...]


def digest(coffer: Coffer, *, since: str = SINCE, scope: str | None = None, store: str | None = None) -> Digest:
    """What happened since a date, a commit (which is left out) or the beginning of the last session.

    Of a fact that was learnt and then edited, only that it was learnt is told.

    Raises:
        BadDate, NoSuchRevision: `since` is neither.
        NoSession: no session is known.
    """
    stores = coffer.existing(scope, store)
    histories = {found.id: History(found.directory) for found in stores}
    try:
        begin, after = _begin(coffer, list(histories.values()), since)
        items: dict[tuple[str, str], tuple[str, Item]] = {}
        commits = 0
        for found in stores:
            entries = list(_entries(histories[found.id], begin, after))
            commits += len(entries)
            for entry in reversed(entries):
                for kind, item in _happened(histories[found.id], found, entry):
                    _add(items, kind, item)
    finally:
        for history in histories.values():
            history.close()
    parts = {kind: _newest(item for of, item in items.values() if of == kind) for kind in KINDS}
    return Digest(documents.iso(begin), **parts, by=_shares(parts), commits=commits, notices=tuple(coffer.notices))


def _begin(coffer: Coffer, histories: Sequence[History], since: str) -> tuple[float, str | None]:
    """The moment to begin at, and the commit to begin after."""
    if since == LAST_SESSION:
        return _session_begin(histories), None
    try:
        return dates.parse(since, coffer.clock()).timestamp(), None
    except dates.BadDate:
        for history in histories:
            try:
                entry = history.entry(history.resolve(since))
            except NoSuchRevision:
                continue
            return entry.time, entry.commit
        raise


def _session_begin(histories: Sequence[History]) -> float:
    """When the newest session's first commit was made."""
    newest: Entry | None = None
    for history in histories:
        found = next((entry for entry in history.entries() if entry.record.session), None)
        if found and (newest is None or found.time > newest.time):
            newest = found
    if newest is None:
        raise NoSession
    times = (
        entry.time
        for history in histories
        for entry in history.entries()
        if entry.record.session == newest.record.session
    )
    return min(times)


def _entries(history: History, begin: float, after: str | None) -> Iterator[Entry]:
    for entry in history.entries():
        if entry.commit == after or entry.time < begin - SLACK_SECONDS:
            return
        if entry.time >= begin:
            yield entry


def _happened(history: History, store: Store, entry: Entry) -> Iterator[tuple[str, Item]]:
    """What a commit did to facts: learnt, changed or forgotten, each with the fact."""
    event = entry.record.event
    gone = [delta for delta in entry.deltas if delta.after is None and _counts(delta)]
    left = {_fact(history, delta, delta.before).id: delta for delta in gone}
    for delta in entry.deltas:
        if delta.after is None or not _counts(delta):
            continue
        now = _fact(history, delta, delta.after)
        if lanes.lane_of(delta.path) == "journal":
            yield from _journal(history, store, entry, delta)
        elif delta.before is not None:
            before = _fact(history, delta, delta.before)
            kind = "learnt" if event == "memory_organized" else "changed"
            yield kind, _item(store, entry, now, _other(before.title, now.title))
        else:
            source = left.pop(now.metadata.get("supersedes") or now.id, None)
            old = _fact(history, source, source.before).title if source else None
            kind = "changed" if source or event in ("memory_moved", "memory_restored") else "learnt"
            yield kind, _item(store, entry, now, old if event == "memory_superseded" else _other(old, now.title))
    if event == "memory_moved":  # told where it arrived
        return
    for delta in left.values():
        yield "forgotten", _item(store, entry, _fact(history, delta, delta.before), None)


def _counts(delta: Delta) -> bool:
    """Files that hold facts; what was superseded is told with its successor."""
    return lanes.lane_of(delta.path) not in (None, "superseded", "handoff")


def _fact(history: History, delta: Delta, blob: str | None) -> Fact:
    return fact.parse(delta.path, history.blob(blob) if blob else b"")


def _journal(history: History, store: Store, entry: Entry, delta: Delta) -> Iterator[tuple[str, Item]]:
    """The entries a day's journal has more."""
    sides = [
        {one.id: one for one in documents.of(delta.path, history.blob(blob), lambda _: float(entry.time))}
        if blob
        else {}
        for blob in (delta.before, delta.after)
    ]
    whole = _fact(history, delta, delta.after)
    for identifier, one in sides[1].items():
        if identifier not in sides[0]:
            yield "learnt", replace(_item(store, entry, whole, None), id=identifier, title=secrets.mask(one.title))


def _other(old: str | None, new: str) -> str | None:
    return old if old != new else None


def _item(store: Store, entry: Entry, of: Fact, old_title: str | None) -> Item:
    record = entry.record
    return Item(
        id=of.id,
        title=secrets.mask(of.title),
        old_title=secrets.mask(old_title) if old_title else None,
        event=record.event,
        time=documents.iso(entry.time),
        who=record.agent or record.actor,
        actor=record.actor,
        agent=record.agent,
        session=record.session,
        store=store.name,
        scope=store.scope,
        path=of.path,
        commit=entry.commit,
    )


def _add(items: dict[tuple[str, str], tuple[str, Item]], kind: str, item: Item) -> None:
    """Take in what happened next to a fact: what it was at first is what its title is compared with."""
    key = (item.store, item.id)
    before = items.get(key)
    if kind == "changed" and before:
        was, first = before
        if was == "learnt":
            kind, item = was, replace(first, title=item.title, path=item.path)
        elif was == "changed":
            item = replace(item, old_title=_other(first.old_title or first.title, item.title))
    items.pop(key, None)
    items[key] = (kind, item)


def _newest(items: Iterator[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items, key=lambda item: item.time, reverse=True))


def _shares(parts: dict[str, tuple[Item, ...]]) -> tuple[Share, ...]:
    counts = {kind: Counter(item.who for item in items) for kind, items in parts.items()}
    people = sum(counts.values(), Counter[str]())
    return tuple(Share(who, **{kind: counts[kind][who] for kind in KINDS}) for who, _ in people.most_common())
