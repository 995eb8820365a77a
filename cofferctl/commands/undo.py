"""undo: one operation is taken back whole, by a commit that goes forward; where somebody edited since, both stay."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cofferctl import fact, lanes, secrets, store, worktree
from cofferctl.errors import CofferError, ExitCode
from cofferctl.history.log import History, NoSuchRevision
from cofferctl.inbox import Inbox
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cofferctl.coffer import Coffer, Who
    from cofferctl.history.log import Entry
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree

SPAN_SECONDS = 86_400
"""The commits of one operation lie this close together at most."""


class NothingToUndo(CofferError):
    """There is no operation of one's own to take back."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, where: str) -> None:
        super().__init__(
            f"no operation of yours to undo in {where}", hint="`cofferctl log` names operations and commits"
        )


@dataclass(frozen=True, slots=True)
class UndoneStore:
    """What was taken back in one store.

    Attributes:
        store: its name.
        subjects: what the undone commits said.
        reverted: paths set back.
        kept: paths left as they are, because they were edited since.
        copies: where the old text of such a path was put instead.
        commit: the undoing commit.
    """

    store: str
    subjects: tuple[str, ...]
    reverted: tuple[str, ...]
    kept: tuple[str, ...]
    copies: tuple[str, ...]
    commit: str | None


@dataclass(frozen=True, slots=True)
class Undone:
    """The answer: the operation taken back, and the one that did it (None for a dry run)."""

    undone: str
    operation: str | None
    stores: tuple[UndoneStore, ...]
    dry_run: bool
    notices: tuple[str, ...]


@dataclass(slots=True)
class _Reversal:
    """An operation's commits in one store, newest first, and per path its blobs after and before it."""

    store: Store
    entries: list[Entry]
    after: dict[str, str | None] = field(default_factory=dict)
    before: dict[str, str | None] = field(default_factory=dict)

    def collect(self) -> None:
        for entry in self.entries:
            for delta in entry.deltas:
                self.after.setdefault(delta.path, delta.after)
                self.before[delta.path] = delta.before

    def arrived(self) -> list[str]:
        """Paths the operation added."""
        return [path for path, before in self.before.items() if before is None]


def undo(
    coffer: Coffer,
    target: str | None = None,
    *,
    dry_run: bool = False,
    scope: str | None = None,
    store: str | None = None,
) -> Undone:
    """Take back an operation, in every store it touched.

    Args:
        coffer: the memory.
        target: an operation, or a commit (then its whole operation); default: one's own last.
        dry_run: only say what would be done.
        scope: which store's last operation; default the project's.
        store: one store by name instead.

    Raises:
        NothingToUndo, NoSuchRevision: there is none.
    """
    who = coffer.who()
    chosen = _chosen(coffer, target, who, scope, store)
    name = chosen.entries[0].record.operation or chosen.entries[0].commit
    reversals = [chosen, *_elsewhere(coffer, chosen)]
    operation = None if dry_run else coffer.new_id()
    done = tuple(
        _take_back(coffer, reversal, who, operation, _ids_elsewhere(coffer, reversal, reversals))
        for reversal in reversals
    )
    notices = tuple(f"{path} was edited since and stays as it is" for one in done for path in one.kept)
    return Undone(name, operation, done, dry_run, (*coffer.notices, *notices))


def _chosen(coffer: Coffer, target: str | None, who: Who, scope: str | None, store_name: str | None) -> _Reversal:
    stores = [found for found in _stores(coffer, target, scope, store_name) if found.exists]
    for found in stores:
        history = History(found.directory)
        try:
            entries = _operation(history, target, who)
            if entries:
                reversal = _Reversal(found, entries)
                reversal.collect()
                return reversal
        except NoSuchRevision:
            continue
        finally:
            history.close()
    if target is not None:
        raise NoSuchRevision(target)
    raise NothingToUndo(", ".join(found.name for found in stores) or "a store that is not there yet")


def _stores(coffer: Coffer, target: str | None, scope: str | None, name: str | None) -> Sequence[Store]:
    """One's own last operation is looked for in one store, a named one wherever it is."""
    if target is not None or scope is not None or name is not None:
        return coffer.readable(scope, name)
    return coffer.readable()[:1]


def _operation(history: History, target: str | None, who: Who) -> list[Entry]:
    """All commits of the operation meant, newest first."""
    first = None
    commit = _resolved(history, target)
    found: list[Entry] = []
    for entry in history.entries():
        if first is None:
            if not _is_meant(entry, target, commit, who):
                continue
            first = entry
            found.append(entry)
            if not entry.record.operation:
                break
        elif entry.record.operation == first.record.operation:
            found.append(entry)
        elif first.time - entry.time > SPAN_SECONDS:
            break
    return found


def _resolved(history: History, target: str | None) -> str | None:
    try:
        return history.resolve(target) if target else None
    except NoSuchRevision:
        return None


def _is_meant(entry: Entry, target: str | None, commit: str | None, who: Who) -> bool:
    record = entry.record
    if target is not None:
        return entry.commit == commit or record.operation == target.upper()
    return bool(record.operation) and (record.actor, record.agent) == (who.actor, who.agent)


def _elsewhere(coffer: Coffer, chosen: _Reversal) -> Iterator[_Reversal]:
    """The same operation in other stores: a move has two sides."""
    operation = chosen.entries[0].record.operation
    if chosen.entries[0].record.event != "memory_moved" or not operation:
        return
    for other in store.existing(coffer.config.home):
        if other.id != chosen.store.id:
            history = History(other.directory)
            entries = [entry for entry in _recent(history, chosen) if entry.record.operation == operation]
            reversal = _Reversal(other, entries)
            reversal.collect()
            history.close()
            if entries:
                yield reversal


def _recent(history: History, chosen: _Reversal) -> Iterator[Entry]:
    oldest = chosen.entries[-1].time - SPAN_SECONDS
    for entry in history.entries():
        if entry.time < oldest:
            return
        yield entry


def _ids_elsewhere(coffer: Coffer, reversal: _Reversal, reversals: Sequence[_Reversal]) -> set[bytes]:
    """Ids of facts that will be in other stores: one that comes back with such an id becomes a fact of its own."""
    found: set[bytes] = set()
    for other in coffer.existing():
        if other.id == reversal.store.id:
            continue
        work = other.scan()
        gone: set[str] = set()
        for one in reversals:
            if one.store.id == other.id:
                gone = {path for path in one.arrived() if one.after[path] == _blob_now(other, work, path)}
        found |= {entry.id for path, entry in work.entries.items() if path not in gone}
    return found


def _take_back(
    coffer: Coffer, reversal: _Reversal, who: Who, operation: str | None, elsewhere: set[bytes]
) -> UndoneStore:
    target = reversal.store
    subjects = tuple(secrets.mask(entry.record.subject) for entry in reversal.entries)
    single = reversal.entries[0].record.fact if len(reversal.entries) == 1 else None
    record = who.record("memory_restored", f"undo: {subjects[0]}", operation=operation or "", fact=single)
    history = History(target.directory)

    def plan(work: Worktree) -> Change[UndoneStore]:
        contents, kept, copies = _contents(coffer, target, history, reversal, work)
        contents = _told_apart(coffer, work, contents, elsewhere)
        reverted = tuple(path for path in contents if path not in copies)
        return Change(contents, record, UndoneStore(target.name, subjects, reverted, kept, copies, None))

    try:
        if operation is None:
            return plan(target.scan()).result
        receipt = target.write(plan, coffer.author(who))
    finally:
        history.close()
    return replace(receipt.result, commit=receipt.commit)


def _contents(
    coffer: Coffer, target: Store, history: History, reversal: _Reversal, work: Worktree
) -> tuple[dict[str, bytes | None], tuple[str, ...], tuple[str, ...]]:
    contents: dict[str, bytes | None] = {}
    kept: list[str] = []
    copies: list[str] = []
    inbox = Inbox(target.directory)
    for path, before in reversal.before.items():
        now = _blob_now(target, work, path)
        if now == before or (before is None and path in lanes.STORE_FILES):
            continue  # a store's own files came with its first fact; they do not go with it
        if now == reversal.after[path]:
            contents[path] = history.blob(before) if before else None
            continue
        kept.append(path)
        if before and lanes.lane_of(path):
            old = history.blob(before)
            parsed = fact.parse(path, old)
            copy = inbox.place(f"{parsed.title} before undo", coffer.new_id(), f"{coffer.clock():%Y-%m}")
            contents[copy] = fact.normalize(fact.with_id(old, coffer.new_id()))
            copies.append(copy)
    return contents, tuple(kept), tuple(copies)


def _told_apart(
    coffer: Coffer, work: Worktree, contents: dict[str, bytes | None], elsewhere: set[bytes]
) -> dict[str, bytes | None]:
    """The same, but a fact that comes back while another file has its id becomes a fact of its own."""
    staying = elsewhere | {entry.id for path, entry in work.entries.items() if path not in contents}
    return {
        path: fact.with_id(data, coffer.new_id())
        if data is not None and fact.parse(path, data).id.encode() in staying
        else data
        for path, data in contents.items()
    }


def _blob_now(target: Store, work: Worktree, path: str) -> str | None:
    entry = work.entries.get(path)
    if entry:
        return entry.blob.hex()
    data = target.read(path) if path in lanes.STORE_FILES else None
    return worktree.blob_id(fact.normalize(data)).hex() if data is not None else None
