"""forget: facts and lane files go, in one commit; `restore` and `undo` bring them back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cofferctl import documents, fact, secrets, selecting
from cofferctl.commands.stores import NotConfirmed
from cofferctl.errors import UsageError
from cofferctl.selecting import NoSuchFact
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cofferctl.coffer import Coffer
    from cofferctl.history.message import Record
    from cofferctl.selecting import Selected
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree


class SeveralStores(UsageError):
    """Facts of several stores were to be changed by one commit."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"these facts are in several stores: {', '.join(names)}", hint="do it store by store")


@dataclass(frozen=True, slots=True)
class Gone:
    """One forgotten file."""

    id: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The answer."""

    store: str
    scope: str
    facts: tuple[Gone, ...]
    commit: str | None
    operation: str
    notices: tuple[str, ...]


def find(
    coffer: Coffer, selectors: Sequence[str], *, scope: str | None = None, store: str | None = None
) -> list[Selected]:
    """The facts some selectors name, each once.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: one of them names none.
        SeveralStores: they are not all in one store.
    """
    stores = coffer.existing(scope, store)
    chosen = (selecting.select_part(stores, selector) for selector in selectors)
    found = {(one.store.name, one.fact.path, one.entry): one for one in chosen}
    names = sorted({name for name, _, _ in found})
    if len(names) > 1:
        raise SeveralStores(names)
    return list(found.values())


def forget(
    coffer: Coffer,
    selectors: Sequence[str],
    *,
    yes: bool = False,
    scope: str | None = None,
    store: str | None = None,
) -> Forgotten:
    """Delete facts, in one commit.

    Raises:
        NoSuchFact, Ambiguous, PathRefused, SeveralStores: see `find`.
        NotConfirmed: several, without `yes`.
    """
    selected = find(coffer, selectors, scope=scope, store=store)
    if len(selected) > 1 and not yes:
        raise NotConfirmed(f"forget {len(selected)} facts")
    target, who, operation = selected[0].store, coffer.who(), coffer.new_id()
    single = selected[0] if len(selected) == 1 else None
    record = who.record(
        "memory_deleted",
        f"forget: {single.fact.title if single else f'{len(selected)} facts'}",
        operation=operation,
        fact=(single.entry or single.fact.id) if single else None,
    )

    def plan(work: Worktree) -> Change[Forgotten]:
        return _plan(target, work, selected, record)

    receipt = target.write(plan, coffer.author(who))
    coffer.written(target)
    return replace(receipt.result, commit=receipt.commit, notices=(*coffer.notices, *receipt.notices))


def _plan(target: Store, work: Worktree, selected: Sequence[Selected], record: Record) -> Change[Forgotten]:
    contents: dict[str, bytes | None] = {}
    gone = []
    for one in selected:
        path = selecting.path_of(work, one)
        title = one.fact.title
        if one.entry is None:
            contents[path] = None
        else:
            data = contents[path] if path in contents else target.read(path)
            contents[path], title = _without(path, data or b"", one.entry)
        gone.append(Gone(one.entry or one.fact.id, secrets.mask(title), path))
    result = Forgotten(target.name, target.scope, tuple(gone), None, str(record.operation), ())
    return Change(contents, record, result)


def _without(path: str, data: bytes, entry: str) -> tuple[bytes | None, str]:
    """A journal file without one entry (None when that was all), and the entry's title."""
    if fact.parse(path, data).replaced:
        raise fact.HeadUnreadable("the file is not UTF-8")
    found = next((document for document in documents.of(path, data, lambda _: 0.0) if document.id == entry), None)
    if found is None:
        raise NoSuchFact(entry)
    text = fact.decode(data)
    rest = text[: found.offset] + text[found.offset + len(found.body) :]
    return rest.encode() if rest.strip() else None, found.title
