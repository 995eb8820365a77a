"""supersede: a new fact takes an old one's place; the old one is kept in superseded/, out of recall."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cofferctl import fact, intake, lanes, secrets, selecting
from cofferctl.commands.remember import Remembered
from cofferctl.errors import CofferError, ExitCode
from cofferctl.inbox import Inbox
from cofferctl.selecting import NoSuchFact
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from datetime import datetime

    from cofferctl.coffer import Coffer
    from cofferctl.fact import Fact
    from cofferctl.history.message import Record
    from cofferctl.selecting import Selected
    from cofferctl.worktree import Worktree


class AlreadySuperseded(CofferError):
    """The fact has a successor already."""

    code = "STORE_CONFLICT"
    exit_code = ExitCode.CONFLICT

    def __init__(self, old: Fact) -> None:
        successor = old.metadata.get("superseded_by", "another fact")
        super().__init__(f"{old.id} is superseded already, by {successor}", hint=f"supersede or edit {successor}")


def supersede(
    coffer: Coffer,
    selector: str,
    text: str,
    *,
    title: str | None = None,
    description: str | None = None,
    actor: str | None = None,
    agent: str | None = None,
    session: str | None = None,
    scope: str | None = None,
    store: str | None = None,
    allow_secret: bool = False,
) -> Remembered:
    """Store a text as the successor of a fact, in one commit.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: no such fact.
        AlreadySuperseded: it has a successor.
        Rejected: the text is empty, too long, or looks like a secret.
    """
    selected = selecting.select(coffer.existing(scope, store), selector)
    if lanes.lane_of(selected.fact.path) == "superseded":
        raise AlreadySuperseded(selected.fact)
    text = intake.clean(text)
    intake.check(text, coffer.max_fact_chars(selected.store))
    if not allow_secret:
        intake.check_secret(text, title or "", description or "")
    who, now = coffer.who(actor, agent, session), coffer.clock()
    draft = intake.Draft(
        text=text,
        title=intake.title_of(text, title),
        description=intake.description_of(text, description),
        actor=who.actor,
        agent=who.agent,
        session=who.session,
        created_at=now,
        metadata={"supersedes": selected.fact.id} | coffer.provenance(selected.store),
    )
    identifier = coffer.new_id()
    record = who.record("memory_superseded", f"supersede: {draft.title}", operation=identifier, fact=identifier)

    def plan(work: Worktree) -> Change[Remembered]:
        return _plan(selected, work, draft, identifier, record)

    receipt = selected.store.write(plan, coffer.author(who))
    coffer.written(selected.store)
    return replace(receipt.result, commit=receipt.commit, notices=(*coffer.notices, *receipt.notices))


def _plan(
    selected: Selected, work: Worktree, draft: intake.Draft, identifier: str, record: Record
) -> Change[Remembered]:
    target = selected.store
    old = selecting.path_of(work, selected)
    data = target.read(old)
    if data is None:
        raise NoSuchFact(old)
    path = Inbox(target.directory).place(draft.title, identifier, f"{draft.created_at:%Y-%m}")
    archived = archive_path(work, old, draft.created_at)
    contents = {path: draft.render(identifier), archived: archive(data, old, identifier), old: None}
    result = Remembered(identifier, target.name, target.scope, path, None, secrets.mask(draft.title), None, (), ())
    return Change(contents, record, result)


def archive(data: bytes, path: str, successor: str) -> bytes:
    """A superseded file's bytes: its head names the successor and keeps its id; an unreadable head is left alone."""
    parsed = fact.parse(path, data)
    metadata = {"superseded_by": successor} | ({} if parsed.has_id else {"original_id": parsed.id})
    try:
        return fact.normalize(fact.edit(data, metadata=metadata))
    except fact.HeadUnreadable:
        return fact.normalize(data)


def archive_path(work: Worktree, path: str, now: datetime) -> str:
    """Where a superseded file goes: superseded/<slug>-<time>.md."""
    stem = path.rpartition("/")[2].removesuffix(".md")
    moment = f"{now:%Y%m%dT%H%M%S}"
    names = (f"superseded/{stem}-{moment}{tail}.md" for tail in ("", *(f"-{number}" for number in range(2, 10_000))))
    taken = {lanes.fold(known) for known in work.entries}
    return next(name for name in names if lanes.fold(name) not in taken)
