"""log: who taught the memory what, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import dates, documents, lanes, secrets, selecting
from cofferctl.commands.list_facts import LANES
from cofferctl.commands.recall import BadChoice
from cofferctl.history.log import Entry, History
from cofferctl.history.message import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cofferctl.coffer import Coffer
    from cofferctl.store import Store

LIMIT = 100
ACTORS = ("user", "agent", "outside")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One commit; `id` is None when it holds several facts or none."""

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
    scope: str | None = None,
    store: str | None = None,
) -> Logged:
    """The commits of a fact, or of everything.

    Raises:
        UsageError: a lane, actor, event, date or number that is none.
        NoSuchFact, Ambiguous, PathRefused: no such fact.
    """
    _check("--lane", lane, LANES)
    _check("--actor", actor, ACTORS)
    _check("--event", event, EVENTS)
    if limit is not None and limit < 1:
        raise BadChoice("-n", limit, "a number from 1")
    oldest = dates.parse(since, coffer.clock()).timestamp() if since is not None else None
    wanted = _Filter(lanes.expand(lane) if lane else None, actor, event, oldest)
    stores = [found for found in coffer.readable(scope, store) if found.exists]
    path = None
    if selector is not None:
        selected = selecting.select(stores, selector)
        stores, path = [selected.store], selected.fact.path
    count = limit or LIMIT
    found = sorted(
        (item for of in stores for item in _of_store(of, path, wanted, count + 1)),
        key=lambda item: item.time,
        reverse=True,
    )
    if limit is None and len(found) > count:
        coffer.notice(f"only the newest {count} commits are shown; -n N shows more")
    return Logged(tuple(found[:count]), tuple(coffer.notices))


def _check(option: str, given: str | None, known: Sequence[str]) -> None:
    if given is not None and given not in known:
        raise BadChoice(option, given, f"one of {', '.join(known)}")


def _of_store(store: Store, path: str | None, wanted: _Filter, count: int) -> list[LogEntry]:
    history = History(store.directory)
    try:
        entries = history.touching(path) if path else history.entries()
        return [_entry(store, entry) for entry in _first(entries, wanted, count)]
    finally:
        history.close()


def _first(entries: Iterable[Entry], wanted: _Filter, count: int) -> Iterator[Entry]:
    for entry in entries:
        if wanted.passes(entry):
            yield entry
            count -= 1
            if not count:
                return


def _entry(store: Store, entry: Entry) -> LogEntry:
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
        paths=entry.paths,
        subject=subject,
        store=store.name,
    )
