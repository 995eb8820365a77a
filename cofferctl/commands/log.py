"""log: who taught the memory what, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import dates, documents, lanes, past, patches, secrets
from cofferctl.choices import BadChoice, check
from cofferctl.commands.list_facts import LANES
from cofferctl.history.log import Entry, History
from cofferctl.history.message import EVENTS
from cofferctl.history.repository import NotAStore
from cofferctl.lineage import Lineage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cofferctl.coffer import Coffer
    from cofferctl.past import Trace
    from cofferctl.store import Store

LIMIT = 100
ACTORS = ("user", "agent", "outside")
SLACK_SECONDS = 86_400
"""Clocks of several machines differ: commits this much older than wanted are looked at before the search ends."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One commit; `id` is None when it holds several facts or none, `diff` where it was not asked for."""

    commit: str
    time: str
    event: str
    actor: str
    agent: str | None
    session: str | None
    operation: str | None
    id: str | None
    title: str
    paths: tuple[str, ...]
    subject: str
    store: str
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """The answer, newest first."""

    entries: tuple[LogEntry, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Filter:
    lanes: frozenset[str] | None
    actor: str | None
    event: str | None
    since: float | None

    def ended(self, entry: Entry) -> bool:
        """Whether all that follows is too old."""
        return self.since is not None and entry.time < self.since - SLACK_SECONDS

    def passes(self, entry: Entry) -> bool:
        return (
            (self.actor is None or entry.record.actor == self.actor)
            and (self.event is None or entry.record.event == self.event)
            and (self.lanes is None or any(lanes.lane_of(path) in self.lanes for path in entry.paths))
            and (self.since is None or entry.time >= self.since)
        )


def log(
    coffer: Coffer,
    selector: str | None = None,
    *,
    lane: str | None = None,
    actor: str | None = None,
    event: str | None = None,
    since: str | None = None,
    limit: int | None = None,
    patch: bool = False,
    scope: str | None = None,
    store: str | None = None,
) -> Logged:
    """The commits of a fact, or of everything.

    A fact is followed through supersede, forget and restore, and through move into the other store.

    Raises:
        UsageError: a lane, actor, event, date or number that is none.
        NoSuchFact, Ambiguous, PathRefused: no such fact.
    """
    check("--lane", lane, LANES)
    check("--actor", actor, ACTORS)
    check("--event", event, EVENTS)
    if limit is not None and limit < 1:
        raise BadChoice("-n", limit, "a number from 1")
    oldest = dates.parse(since, coffer.clock()).timestamp() if since is not None else None
    wanted = _Filter(lanes.expand(lane) if lane else None, actor, event, oldest)
    stores = coffer.existing(scope, store)
    count = limit or LIMIT
    if selector is not None:
        found = _of_fact(coffer, past.find(stores, selector), wanted, count + 1, patch=patch)
    else:
        found = sorted(
            (item for of in stores for item in _guarded(coffer, of, wanted, count + 1, patch=patch)),
            key=lambda item: item.time,
            reverse=True,
        )
    if limit is None and len(found) > count:
        coffer.notice(f"only the newest {count} commits are shown; -n N shows more")
    return Logged(tuple(found[:count]), tuple(coffer.notices))


def _guarded(coffer: Coffer, store: Store, wanted: _Filter, count: int, *, patch: bool) -> list[LogEntry]:
    """One store's commits; a store whose history cannot be read is left out and named."""
    try:
        return _of_store(store, wanted, count, patch=patch)
    except (NotAStore, OSError, KeyError) as error:
        coffer.notice(f"the history of {store.name} cannot be read ({error})")
        return []


def _of_fact(coffer: Coffer, trace: Trace, wanted: _Filter, count: int, *, patch: bool) -> list[LogEntry]:
    found: list[LogEntry] = []
    with Lineage(coffer.config.home) as lineage:
        for step in lineage.steps(trace):
            if len(found) < count and wanted.passes(step.entry):
                paths = frozenset(delta.path for delta in step.deltas)
                history = lineage.history(step.store)
                text = patches.of_commit(history, step.entry, paths) if patch else None
                found.append(_entry(step.store, step.entry, text))
    return found


def _of_store(store: Store, wanted: _Filter, count: int, *, patch: bool) -> list[LogEntry]:
    history = History(store.directory)
    try:
        return [
            _entry(store, entry, patches.of_commit(history, entry) if patch else None)
            for entry in _first(history.entries(), wanted, count)
        ]
    finally:
        history.close()


def _first(entries: Iterable[Entry], wanted: _Filter, count: int) -> Iterator[Entry]:
    for entry in entries:
        if wanted.passes(entry):
            yield entry
            count -= 1
        if not count or wanted.ended(entry):
            return


def _entry(store: Store, entry: Entry, diff: str | None) -> LogEntry:
    record = entry.record
    subject = secrets.mask(record.subject)
    return LogEntry(
        commit=entry.commit,
        time=documents.iso(entry.time),
        event=record.event,
        actor=record.actor,
        agent=record.agent,
        session=record.session,
        operation=record.operation,
        id=record.fact,
        title=subject.partition(": ")[2] or subject,
        paths=tuple(map(secrets.mask, entry.paths)),
        subject=subject,
        store=store.name,
        diff=diff,
    )
