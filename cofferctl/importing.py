"""Taking many facts at once: those that are new go into the inbox as one commit, in which nothing is there twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cofferctl import lanes, secrets, ulid, worktree
from cofferctl.errors import CofferError, ExitCode
from cofferctl.inbox import Inbox
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cofferctl.coffer import Coffer
    from cofferctl.intake import Draft
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree


class NoSuchFile(CofferError):
    """The file to import cannot be read."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, path: Path, why: str, wanted: str) -> None:
        super().__init__(f"cannot read {path}: {why}", hint=wanted)


@dataclass(frozen=True, slots=True)
class Imported:
    """The answer: how many facts are new, how many were there already."""

    store: str
    imported: int
    duplicates: int
    commit: str | None
    operation: str | None
    dry_run: bool
    notices: tuple[str, ...]


def limit(coffer: Coffer, *, scope: str | None = None, store: str | None = None) -> int:
    """How long a fact may be in the store that an import would go to."""
    there = _target(coffer, scope, store)
    return coffer.max_fact_chars(there)


def take(
    coffer: Coffer, drafts: Sequence[Draft], *, dry_run: bool, scope: str | None = None, store: str | None = None
) -> Imported:
    """Store the drafts that are new; none of them, only counted, for a dry run.

    Raises:
        ScopeUnresolved, NoSuchStore, ScopeAndStore, Busy, NotWritable, StoreConflict: as for every write.
    """
    if dry_run:
        there = _target(coffer, scope, store)
        known = Known(there, there.scan() if there else worktree.Worktree())
        new = sum(1 for draft in drafts if known.is_new(draft))
        name = there.name if there else "project"
        return Imported(name, new, len(drafts) - new, None, None, dry_run=True, notices=tuple(coffer.notices))
    target = coffer.writable(scope, store)
    operation = coffer.new_id()

    def plan(work: Worktree) -> Change[Imported]:
        return _plan(coffer, target, work, drafts, operation)

    receipt = target.write(plan, coffer.author(coffer.who()))
    coffer.written(target)
    return replace(
        receipt.result,
        commit=receipt.commit,
        operation=operation if receipt.commit else None,
        notices=(*coffer.notices, *receipt.notices),
    )


def _target(coffer: Coffer, scope: str | None, store: str | None) -> Store | None:
    """The store a write would go to, None when the first write is going to make it."""
    there = coffer.readable(scope or "project", None) if store is None else coffer.readable(None, store)
    return there[0] if there else None


def _plan(coffer: Coffer, target: Store, work: Worktree, drafts: Sequence[Draft], operation: str) -> Change[Imported]:
    known, inbox = Known(target, work), Inbox(target.directory)
    contents: dict[str, bytes | None] = {}
    for draft in drafts:
        if known.is_new(draft):
            identifier = ulid.new(max(0, int(draft.created_at.timestamp() * 1000)))
            path = inbox.place(secrets.mask(draft.title), identifier, f"{draft.created_at:%Y-%m}")
            contents[path] = draft.render(identifier)
    report = partial(coffer.progress, "importing") if coffer.progress else None
    subject = f"import: {len(contents)} fact{'s' * (len(contents) != 1)}"
    record = coffer.who().record("memory_imported", subject, operation=operation)
    result = Imported(target.name, len(contents), len(drafts) - len(contents), None, None, dry_run=False, notices=())
    return Change(contents, record, result, report=report)


class Known:
    """What is in the inbox already: a text is known under the same `ref`, or under any when it has none."""

    def __init__(self, store: Store | None, work: Worktree) -> None:
        self._store = store
        self._paths: dict[bytes, list[str]] = {}
        for path, entry in work.entries.items():
            if lanes.lane_of(path) == "inbox":
                self._paths.setdefault(entry.body, []).append(path)
        self._taken: dict[bytes, set[str | None]] = {}

    def is_new(self, draft: Draft) -> bool:
        """Whether a draft says something new; it is known from then on."""
        body, ref = worktree.body_hash(draft.text), draft.metadata.get("ref")
        taken = self._taken.setdefault(body, set())
        if ref in taken or (ref is None and taken):
            return False
        for path in self._paths.get(body, ()):
            there = self._store.fact(path) if self._store else None
            if there and (ref is None or there.ref == ref):
                return False
        taken.add(ref)
        return True
