"""remember: one text becomes one fact, one commit; no model is asked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cofferctl import intake, lanes, searching, secrets, worktree
from cofferctl.choices import check
from cofferctl.inbox import Inbox
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cofferctl.coffer import Coffer, Who
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree

SIMILAR = 3
SIMILAR_SHARE = 0.5
"""A fact is called similar when at least this share of the new one's words stand in it."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A fact that may say the same in other words."""

    id: str
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer: where the fact is; `commit` is None when the next write commits it."""

    id: str
    store: str
    scope: str
    path: str
    commit: str | None
    title: str
    duplicate_of: str | None
    similar: tuple[Similar, ...]
    notices: tuple[str, ...]


def remember(
    coffer: Coffer,
    text: str,
    *,
    title: str | None = None,
    description: str | None = None,
    scope: str | None = None,
    store: str | None = None,
    actor: str | None = None,
    agent: str | None = None,
    session: str | None = None,
    allow_secret: bool = False,
) -> Remembered:
    """Store a fact.

    Raises:
        Rejected: the text is empty, too long, or looks like a secret.
        ScopeUnresolved, NoSuchStore, ScopeAndStore: no store to write to.
        Busy, NotWritable: the store cannot be written now.
    """
    check("--actor", actor, ("user", "agent"))
    text = intake.clean(text)
    if not text.strip():
        intake.check(text, 1)
    if not allow_secret:
        intake.check_secret(text, title or "", description or "")
    _check_length(coffer, text, scope, store)
    who = coffer.who(actor, agent, session)
    target = coffer.writable(scope, store)
    draft = intake.Draft(
        text=text,
        title=intake.title_of(text, title),
        description=intake.description_of(text, description),
        actor=who.actor,
        agent=who.agent,
        session=who.session,
        created_at=coffer.clock(),
        metadata=coffer.provenance(target),
    )
    return _write(coffer, target, draft, who)


def _check_length(coffer: Coffer, text: str, scope: str | None, store: str | None) -> None:
    """Before the first write gives a project its store, the machine's limit counts."""
    there = coffer.readable(scope or "project", None) if store is None else coffer.readable(None, store)
    intake.check(text, coffer.max_fact_chars(there[0] if there else None))


def _write(coffer: Coffer, target: Store, draft: intake.Draft, who: Who) -> Remembered:
    identifier = coffer.new_id()
    digest = worktree.body_hash(draft.text)
    looked: list[Worktree] = []

    def plan(work: Worktree) -> Change[Remembered]:
        looked[:] = [work]
        for path, entry in work.entries.items():
            if entry.body == digest and lanes.lane_of(path) == "inbox":
                return Change({}, record, _duplicate(target, path))
        path = Inbox(target.directory).place(secrets.mask(draft.title), identifier, f"{draft.created_at:%Y-%m}")
        title = secrets.mask(draft.title)
        result = Remembered(identifier, target.name, target.scope, path, None, title, None, (), ())
        return Change({path: draft.render(identifier)}, record, result)

    record = who.record("memory_added", f"remember: {draft.title}", operation=identifier, fact=identifier)
    receipt = target.write(plan, coffer.author(who), appending=True)
    coffer.written(target)
    made = receipt.result
    return replace(
        made,
        commit=receipt.commit or made.commit,
        similar=_similar(coffer, target, draft, made.id, looked[0].blobs()),
        notices=(*coffer.notices, *receipt.notices),
    )


def _duplicate(target: Store, path: str) -> Remembered:
    from cofferctl.history import log  # noqa: PLC0415

    found = target.fact(path)
    identifier, title = (found.id, secrets.mask(found.title)) if found else ("", "")
    commit = log.last_commit(target.directory, path)
    return Remembered(identifier, target.name, target.scope, path, commit, title, identifier, (), ())


def _similar(
    coffer: Coffer, target: Store, draft: intake.Draft, own: str, files: Mapping[str, str]
) -> tuple[Similar, ...]:
    """What the search index, as it stands, knows of the same words; nothing when it cannot say."""
    with suppress(Exception):  # a hint is never worth a failed write
        hits = searching.similar(coffer, target, draft.text, files=files, limit=SIMILAR + 1, share=SIMILAR_SHARE)
        return tuple(Similar(hit.id, secrets.mask(hit.title), round(hit.score, 3)) for hit in hits if hit.id != own)[
            :SIMILAR
        ]
    return ()
