"""show: one fact, whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cofferctl import documents, fact, lanes, past, secrets, selecting
from cofferctl.coffer import FileTimes
from cofferctl.selecting import NoSuchFact

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer
    from cofferctl.fact import Fact
    from cofferctl.history.log import History
    from cofferctl.selecting import Selected


@dataclass(frozen=True, slots=True)
class Shown:
    """The answer; `commit` is the last one that touched the fact, `history` how many did."""

    id: str
    title: str
    description: str
    body: str
    store: str
    scope: str
    lane: str
    path: str
    folder_path: str
    actor: str
    agent: str | None
    session: str | None
    created_at: str
    updated_at: str
    metadata: dict[str, str]
    commit: str | None
    history: int
    notices: tuple[str, ...]
    ref: str | None = None
    conflict: bool | None = None
    raw: str | None = None


def show(
    coffer: Coffer,
    selector: str,
    *,
    at: str | None = None,
    raw: bool = False,
    reveal: bool = False,
    scope: str | None = None,
    store: str | None = None,
) -> Shown:
    """One fact.

    Args:
        coffer: the memory.
        selector: its id, the beginning of that, or its lane path.
        at: a commit or date to see it at.
        raw: give the whole file too.
        reveal: do not mask secrets.
        scope: where to look.
        store: one store by name instead.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: no such fact.
        NoSuchRevision: no such commit.
    """
    from cofferctl.history.log import History  # noqa: PLC0415 - dulwich

    selected = selecting.select_part(coffer.existing(scope, store), selector)
    history = History(selected.store.directory)
    try:
        data = _content(coffer, selected, history, at)
        entries = list(history.touching(selected.fact.path))
    finally:
        history.close()
    parsed = _part(fact.parse(selected.fact.path, data), data, selected.entry)
    text = fact.decode(data) if raw else None
    return _shown(coffer, selected, parsed, text, entries[0].commit if entries else None, len(entries), reveal=reveal)


def _part(whole: Fact, data: bytes, entry: str | None) -> Fact:
    """One entry of a journal file as a fact."""
    for document in documents.of(whole.path, data, lambda _: 0.0) if entry else ():
        if document.id == entry:
            moment = datetime.fromtimestamp(document.time, UTC)
            return replace(
                whole,
                id=document.id,
                title=document.title,
                body=document.body.strip("\n"),
                created_at=moment,
                updated_at=moment,
            )
    return whole


def _content(coffer: Coffer, selected: Selected, history: History, at: str | None) -> bytes:
    path = selected.fact.path
    if at is None:
        data = selected.store.read(path)
    else:
        commit = past.commit_at(history, at, coffer.clock())
        data = history.content(commit, path) if commit else None
    if data is None:
        raise NoSuchFact(f"{path} at {at}" if at else path)
    return data


def _shown(
    coffer: Coffer,
    selected: Selected,
    parsed: Fact,
    raw: str | None,
    commit: str | None,
    history: int,
    *,
    reveal: bool,
) -> Shown:
    def masked(text: str) -> str:
        return text if reveal else secrets.mask(text)

    path = selected.store.directory / parsed.path
    times = FileTimes(selected.store)
    updated = documents.moment(parsed, times)
    return Shown(
        id=parsed.id,
        title=masked(parsed.title),
        description=masked(parsed.description),
        body=masked(parsed.body),
        store=selected.store.name,
        scope=selected.store.scope,
        lane=str(lanes.lane_of(parsed.path)),
        path=masked(str(path)),
        folder_path=str(path.parent),
        actor=parsed.actor or "outside",
        agent=parsed.agent,
        session=parsed.session,
        created_at=documents.iso(parsed.created_at.timestamp() if parsed.created_at else updated),
        updated_at=documents.iso(updated),
        metadata={key: masked(value) for key, value in parsed.metadata.items()},
        commit=commit,
        history=history,
        notices=tuple(coffer.notices),
        ref=parsed.ref,
        conflict=parsed.conflict or None,
        raw=masked(raw) if raw is not None else None,
    )
