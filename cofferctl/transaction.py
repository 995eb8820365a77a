"""The one way a store is written: lock, recover, snapshot outside edits, write files, commit, publish, answer."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from cofferctl import fact, files, lanes, snapshot, worktree
from cofferctl.errors import CofferError, ExitCode
from cofferctl.history import gitindex, message, programs
from cofferctl.history.repository import Branch, Repository, Signature, make_blob
from cofferctl.intent import Intent, Log, remove_dead_locks
from cofferctl.placing import Placing, Raced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from cofferctl.worktree import Entry, Worktree

T = TypeVar("T")

LOCK_WAIT_SECONDS = 10.0
INDEX_WAIT_SECONDS = 3.0
"""How long a foreign index.lock is waited for; git commands hold it for milliseconds, an open editor for ever."""
ATTEMPTS = 20
READ_BACK = 1_000
"""Files of one change that are read once more before it is acknowledged."""
LOOSE_OBJECTS_SAMPLE = 27
"""Files in one of 256 object directories from which on `git gc --auto` would work (6,700 in all)."""
_OUTSIDE = "outside <outside@coffer.invalid>"


class StoreConflict(CofferError):
    """Somebody is in the middle of a git operation in the store."""

    code = "STORE_CONFLICT"
    exit_code = ExitCode.CONFLICT

    def __init__(self, store: Path, what: str) -> None:
        super().__init__(f"the store is in the middle of {what}: {store}", hint=f"end it first: git -C {store} status")


class Diverged(CofferError):
    """The branch moved under every attempt to write."""

    code = "STORE_BUSY"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, store: Path) -> None:
        super().__init__(f"somebody else keeps committing to {store}", hint="try again when they have ended")


class NotReadBack(CofferError):
    """What was written is not what the disk gives back."""

    exit_code = ExitCode.UNAVAILABLE
    code = "STORE_NOT_WRITABLE"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} does not read back as it was written", hint="check the disk")


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What a command wants written.

    Attributes:
        files: path -> new content, None to delete; none at all to change nothing.
        record: what the commit says of itself.
        result: handed back in the receipt.
        outside: commit what was edited from outside even when there is nothing else to write.
        report: told now and then how many of the files are in place, and of how many.
    """

    files: Mapping[str, bytes | None]
    record: message.Record
    result: T
    outside: bool = False
    report: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Receipt(Generic[T]):
    """A write's answer: its result, its commit (None: none was made, and the notices say why), what else to know."""

    result: T
    commit: str | None
    notices: tuple[str, ...] = ()


def write(
    store: Path, plan: Callable[[Worktree], Change[T]], author: Signature, *, appending: bool = False
) -> Receipt[T]:
    """Carry out one change of a store as one commit, after a commit of whatever was edited from outside.

    Args:
        store: the store's directory.
        plan: given the lanes as they are under the lock, says what to write; called again when somebody was faster.
        author: who writes, and when.
        appending: the change only adds files: while git itself is at work in the store they are written at once and
            committed by the next write, instead of being refused.

    Returns:
        The receipt; what it acknowledges is durable, and has been read back.

    Raises:
        files.Busy: another writer holds the store, or git its index, for longer than we wait.
        files.NotWritable: the disk refuses.
        StoreConflict: the store is in the middle of a merge or the like, and the change is not appending.
    """
    try:
        with files.lock(store / ".git/coffer/lock", timeout=LOCK_WAIT_SECONDS):
            repo = Repository(store)
            try:
                receipt = _Writer(repo, author, appending=appending).run(plan)
            finally:
                repo.close()
    except OSError as error:
        raise files.NotWritable(error.filename or store, error) from error
    if receipt.commit:
        maintain(store)
    return receipt


class _Writer:
    """The state of one write, under the store's lock."""

    def __init__(self, repo: Repository, author: Signature, *, appending: bool) -> None:
        self.repo = repo
        self.author = author
        self.appending = appending
        self.git_dir = repo.path / ".git"
        self.log = Log(self.git_dir)
        self.cache = self.log.private / "stat"

    def run(self, plan: Callable[[Worktree], Change[T]]) -> Receipt[T]:
        recovered = recover(self.repo, self.log, self.author)
        unfinished = self.repo.unfinished()
        if unfinished:
            return self._uncommitted(plan, StoreConflict(self.repo.path, unfinished))
        for _ in range(ATTEMPTS):
            intent = self.log.take_index_lock(Intent(0, (0, 0)), wait=INDEX_WAIT_SECONDS) if recovered else None
            if intent is None:
                if recovered:
                    self.log.drop()
                return self._uncommitted(plan, self._index_busy())
            try:
                receipt = self._attempt(plan, intent)
            except Raced:
                receipt = None
            except BaseException:
                self._abandon()
                raise
            if receipt is not None:
                gitindex.release_lock(self.git_dir, intent.lock)
                self.log.drop()
                return receipt
            self._abandon()
        raise Diverged(self.repo.path)

    def _abandon(self) -> None:
        """Undo what a failed attempt may have published, as a later write would for a dead one."""
        with contextlib.suppress(OSError, CofferError):
            self.log.abandon()
            recover(self.repo, self.log, self.author)

    def _index_busy(self) -> files.Busy:
        lock = self.git_dir / "index.lock"
        return files.Busy(
            lock,
            age=gitindex.lock_age(self.git_dir),
            hint="a git command is at work in the store; if none is, remove that file",
        )

    def _uncommitted(self, plan: Callable[[Worktree], Change[T]], why: CofferError) -> Receipt[T]:
        """Write an appending change without a commit; the next write commits it."""
        if not self.appending:
            raise why
        for _ in range(ATTEMPTS):
            change = plan(worktree.scan(self.repo.path, self.cache, save=False))
            if not change.files:
                return Receipt(change.result, None, ())
            with (
                contextlib.suppress(Raced),
                _uninterrupted(),
                Placing(self.repo.path, self.log.scratch) as placing,
            ):
                placing.place(change.files, {})
                placing.keep()
                notice = f"written, not committed yet ({why.message}); the next write commits it"
                return Receipt(change.result, None, (notice,))
        raise Diverged(self.repo.path)

    def _attempt(self, plan: Callable[[Worktree], Change[T]], intent: Intent) -> Receipt[T] | None:
        """One try; None when the branch moved meanwhile."""
        branch = self.repo.branch()
        tree = self.repo.tree_of(branch.commit)
        found = snapshot.take(self.repo, tree, self.cache)
        change = plan(found.work)
        if not change.files and not (change.outside and (found.contents or found.deleted)):
            return Receipt(change.result, None, ())
        first = {name: found.contents.pop(name) for name in lanes.STORE_FILES if not tree and name in found.contents}
        with _uninterrupted(), Placing(self.repo.path, self.log.scratch) as placing:
            base, tree = self._commit_outside(branch, tree, found)
            commit, tree, ours = self._commit_change(base, tree, change, first)
            self.log.write(
                Intent(intent.pid, intent.lock, _text(branch.commit), _text(base), _text(commit)),
            )
            placing.place(change.files, self._known(change.files, found), change.report)
            touched = _outside_blobs(found) | ours
            gitindex.publish(self.repo, touched, tree, self.log.scratch)
            if self.repo.branch() != branch:  # git lets go of its index before it moves HEAD to another branch
                return None
            if not self.repo.advance(branch, commit, self.author, change.record.subject):
                return None
            placing.keep()
            self._remember(found.work, tree, touched, change)
        self._read_back(change, commit)
        return Receipt(change.result, commit.decode(), tuple(found.notices))

    def _known(self, paths: Iterable[str], found: snapshot.Snapshot) -> dict[str, Entry]:
        """What the files a change replaces were when it was planned; the scan does not cover the store's own files."""
        known = {path: entry for path in paths if (entry := found.work.entries.get(path))}
        for name in lanes.STORE_FILES:
            data = found.store_files.get(name)
            if data is not None:
                known[name] = worktree.describe(name, data)
        return known

    def _commit_outside(
        self, branch: Branch, tree: bytes | None, found: snapshot.Snapshot
    ) -> tuple[bytes | None, bytes | None]:
        edits = _outside_blobs(found)
        if not edits:
            return branch.commit, tree
        new_tree, objects = self.repo.edit_tree(tree, edits)
        paths = sorted(edits)
        subject = f"outside edit: {paths[0]}" if len(paths) == 1 else f"outside edit of {len(paths)} files"
        record = message.Record(subject, "outside_edit", "outside")
        who = Signature(_OUTSIDE, self.author.time, self.author.offset)
        commit = self.repo.make_commit(new_tree, branch.commit, who, message.render(record))
        self.repo.write([*map(make_blob, found.contents.values()), *objects, commit])
        return commit.id, new_tree

    def _commit_change(
        self, base: bytes | None, tree: bytes | None, change: Change[T], first: Mapping[str, bytes]
    ) -> tuple[bytes, bytes, dict[str, bytes | None]]:
        if base and tree and not change.files:
            return base, tree, {}
        blobs = []
        ours: dict[str, bytes | None] = {}
        for path, data in {**first, **change.files}.items():
            blob = make_blob(data) if data is not None else None
            ours[path] = blob.id if blob else None
            if blob:
                blobs.append(blob)
        new_tree, objects = self.repo.edit_tree(tree, ours)
        commit = self.repo.make_commit(new_tree, base, self.author, message.render(change.record))
        self.repo.write([*blobs, *objects, commit])
        return commit.id, new_tree, ours

    def _remember(self, work: Worktree, tree: bytes, touched: Mapping[str, bytes | None], change: Change[T]) -> None:
        """Leave the next scan what this write knows."""
        for path, data in change.files.items():
            if lanes.lane_of(path):
                work.put(path, worktree.describe(path, data) if data is not None else None)
        for path, blob in touched.items():
            if lanes.lane_of(path):
                work.commit(path, bytes.fromhex(blob.decode()) if blob else None)
        work.tree = bytes.fromhex(tree.decode())
        worktree.store(work, self.cache)

    def _read_back(self, change: Change[T], commit: bytes) -> None:
        tree = self.repo.tree_of(commit)
        for path, data in list(change.files.items())[:READ_BACK]:
            if data is not None and files.read_regular(self.repo.path / path) != data:
                written = self.repo.lookup(tree, path)
                if written is None or self.repo.blob(written[1]) != data:  # else: somebody has edited it since
                    raise NotReadBack(path)


def recover(repo: Repository, log: Log, author: Signature) -> bool:
    """Repair what a writer that died left; True when the store is whole, False while git itself holds its index."""
    intent = log.read()
    if intent is None:
        if log.leftovers():
            _rescue(repo, log)
            log.clean()
        return True
    remove_dead_locks(log.git_dir, intent)
    if intent.commit:
        taken = log.take_index_lock(intent, wait=INDEX_WAIT_SECONDS)
        if taken is None:
            return False
        try:
            with contextlib.suppress(KeyError):  # its trees are gone: what is in the work tree is found by the snapshot
                _finish(repo, log, taken, author)
        finally:
            gitindex.release_lock(log.git_dir, taken.lock)
    _rescue(repo, log)
    log.drop()
    log.clean()
    return True


def _finish(repo: Repository, log: Log, intent: Intent, author: Signature) -> None:
    """Complete a dead writer's change if HEAD is where it began; make the git index agree with HEAD in any case."""
    branch = repo.branch()
    commit, parent, base = (name.encode() or None for name in (intent.commit, intent.parent, intent.base))
    if commit is None or not all(repo.has_commit(name) for name in (commit, parent, base) if name):
        return
    replay = not intent.abandoned and branch.commit == parent and branch.ref is not None and repo.unfinished() is None
    new_tree, old_tree = repo.tree_of(commit), repo.tree_of(parent)
    if replay:
        _replay(repo, log, repo.tree_of(base), new_tree)
    head = new_tree if replay else repo.tree_of(branch.commit)
    entries = {
        path: found[1] if (found := repo.lookup(head, path)) else None
        for path, _, _ in repo.changes(old_tree, new_tree)
    }
    gitindex.publish(repo, entries, head or b"", log.scratch)
    if replay:
        repo.advance(branch, commit, author, "recovered write")


def _replay(repo: Repository, log: Log, base: bytes | None, new: bytes | None) -> None:
    """Write the files of a change that a dead writer did not get to; what a person changed since is left alone."""
    for path, before, blob in repo.changes(base, new):
        now = files.read_regular(repo.path / path)
        if now is not None and (before is None or worktree.blob_id(fact.normalize(now)).hex().encode() != before):
            continue
        with contextlib.suppress(Raced), Placing(repo.path, log.scratch) as placing:
            known = {} if now is None else {path: worktree.describe(path, now)}
            placing.place({path: repo.blob(blob) if blob else None}, known)
            placing.keep()


def _rescue(repo: Repository, log: Log) -> None:
    """Put a text that was saved in the very moment of a dead write back into the inbox, when git does not have it."""
    for leftover in log.scratch.glob("old-*"):
        data = files.read_regular(leftover)
        if data and b"\0" not in data and not repo.has(worktree.blob_id(fact.normalize(data)).hex().encode()):
            target = repo.path / lanes.INBOX / f"recovered-{time.time_ns()}.md"
            files.make_private_dirs(target.parent)
            files.write_new(target, data)


def maintain(store: Path) -> None:
    """Let git pack what piled up, in the background; without a git program, pack it here."""
    try:
        count = len(os.listdir(store / ".git/objects/17"))
    except OSError:
        return
    if count <= LOOSE_OBJECTS_SAMPLE:
        return
    program = programs.git()
    if program:
        programs.start(program, store, ["gc", "--auto", "--quiet"])
        return
    with contextlib.suppress(files.Busy), files.lock(store / ".git/coffer/lock", timeout=0):
        repo = Repository(store)
        repo.pack()
        repo.close()


def _outside_blobs(found: snapshot.Snapshot) -> dict[str, bytes | None]:
    blobs: dict[str, bytes | None] = {
        path: worktree.blob_id(data).hex().encode() for path, data in found.contents.items()
    }
    return blobs | dict.fromkeys(found.deleted)


def _text(name: bytes | None) -> str:
    return name.decode() if name else ""


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the write is whole; only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[bool] = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
