"""One store's git repository: trees, blobs, commits and the branch, through dulwich's low-level objects.

Not through dulwich's porcelain: adding one file to 100,000 with it takes seconds and, measured, loses commits when
eight processes write at once.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import time
import zlib
from dataclasses import dataclass
from stat import S_ISREG
from typing import TYPE_CHECKING

from dulwich.errors import ChecksumMismatch, FileFormatException, NotGitRepository
from dulwich.file import FileLocked
from dulwich.object_store import iter_tree_contents
from dulwich.objects import Blob, Commit, ObjectID, RawObjectID, ShaFile, Tree
from dulwich.refs import HEADREF, Ref, SymrefLoop
from dulwich.repo import Repo, UnsupportedExtension, UnsupportedVersion

from cofferctl.errors import CofferError, ExitCode
from cofferctl.files import fsync_dir, make_private_dirs, write_new
from cofferctl.history import walking
from cofferctl.history.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from cofferctl.history.walking import Node

REGULAR = 0o100644
_DIRECTORY = 0o040000
_COMMIT = 1
_NODES_MOST = 5_000
_HEX = re.compile(rb"[0-9a-f]{40}")
PACK_FROM = 200
"""From this many new objects on, one pack is written instead of single files."""
REF_WAIT_SECONDS = 10.0


_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "sequencer": "a sequence of picks",
}


_UNREADABLE = (ChecksumMismatch, FileFormatException, zlib.error, TypeError, ValueError, AssertionError, IndexError)
_DAMAGE = (KeyError, *_UNREADABLE)
"""What dulwich raises when an object is not what it was, or not there."""


class NotAStore(CofferError):
    """The directory of a store is no git repository that we can work in."""

    code = "STORE_NOT_WRITABLE"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, path: Path, why: object) -> None:
        super().__init__(
            f"{path} is not a usable git repository: {why}",
            hint=f"look at it with `git -C {path} fsck`, or move it away",
        )


@dataclass(frozen=True, slots=True)
class Signature:
    """Who made a commit and when.

    Attributes:
        who: `Name <address>`.
        time: POSIX seconds.
        offset: seconds east of UTC.
    """

    who: str
    time: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    """Where HEAD points: the branch's full ref name (None when detached) and its commit (None when unborn)."""

    ref: bytes | None
    commit: bytes | None


class Repository:
    """The git side of a store. Ids are hex as bytes, as git and dulwich write them."""

    def __init__(self, path: Path) -> None:
        """Open the repository of the store at `path`.

        Raises:
            NotAStore: it is none, or of a kind dulwich does not know.
        """
        self.path = path
        try:
            self._repo = Repo(str(path), bare=False)
        except (NotGitRepository, UnsupportedExtension, UnsupportedVersion, OSError, ValueError) as error:
            raise NotAStore(path, error) from error
        self._objects = self._repo.object_store
        self._nodes: dict[bytes, Node] = {}
        self._trees = Trees(self._objects)
        self._parents: dict[bytes, tuple[bytes, ...]] | None = None
        self._objects.fsync_object_files = True  # in memory: git warns about it in a config file

    def close(self) -> None:
        """Release open pack files."""
        self._repo.close()

    def branch(self) -> Branch:
        """HEAD as it is now.

        Raises:
            NotAStore: HEAD is missing or loops.
        """
        try:
            names, commit = self._repo.refs.follow(HEADREF)
        except (KeyError, SymrefLoop) as error:
            raise NotAStore(self.path, f"HEAD is unreadable ({error})") from error
        if commit is not None and not _HEX.fullmatch(commit):
            raise NotAStore(self.path, "HEAD is unreadable")
        return Branch(names[-1] if names[-1] != HEADREF else None, commit)

    def unfinished(self) -> str | None:
        """What git is in the middle of, in words; None when a commit may be made."""
        for name, words in _UNFINISHED.items():
            if (self.path / ".git" / name).exists():
                return words
        return "a visit to an old commit (detached HEAD)" if self.branch().ref is None else None

    def tree_of(self, commit: bytes | None) -> bytes | None:
        """The tree of a commit, None for no commit."""
        return self.commit(commit).tree if commit else None

    def commit(self, name: bytes) -> Commit:
        """Read a commit object."""
        found = self._object(name)
        if not isinstance(found, Commit):
            raise NotAStore(self.path, f"{name.decode()} is not a commit")
        return found

    def blob(self, name: bytes) -> bytes:
        """The content of a blob."""
        return self._object(name).as_raw_string()

    def _object(self, name: bytes) -> ShaFile:
        try:
            return self._objects[ObjectID(name)]
        except _DAMAGE as error:
            raise NotAStore(self.path, f"object {name.decode()} is missing or damaged") from error

    def has_commit(self, name: bytes) -> bool:
        """Whether an object is there, and a commit."""
        return self.has(name) and isinstance(self._object(name), Commit)

    def has(self, name: bytes) -> bool:
        """Whether an object is there."""
        return ObjectID(name) in self._objects

    def changes(self, old: bytes | None, new: bytes | None) -> Iterator[tuple[str, bytes | None, bytes | None]]:
        """Paths that differ between two trees, each with its blob in `old` and in `new` (None: not there).

        Raises:
            KeyError: a tree is not in the object store (a pruned history, a partial clone).
            NotAStore: a tree is damaged.
        """
        try:
            return iter(list(self._trees.changes(old, new)))
        except (ValueError, *_UNREADABLE) as error:
            raise NotAStore(self.path, f"a tree is damaged ({error})") from error

    def paths(self, tree: bytes | None) -> Iterator[tuple[str, bytes]]:
        """Every (path, blob id) below a tree."""
        if tree is None:
            return
        try:
            entries = list(iter_tree_contents(self._objects, ObjectID(tree)))
        except _DAMAGE as error:
            raise NotAStore(self.path, f"a tree is missing or damaged ({error})") from error
        for entry in entries:
            if entry.path is not None and entry.sha is not None:
                yield os.fsdecode(entry.path), entry.sha

    def lookup(self, tree: bytes | None, path: str) -> tuple[int, bytes] | None:
        """Mode and id of what a tree holds at a path, None when nothing."""
        found: tuple[int, bytes] | None = (_DIRECTORY, tree) if tree else None
        for part in os.fsencode(path).split(b"/"):
            directory = self._object(found[1]) if found and found[0] == _DIRECTORY else None
            found = directory[part] if isinstance(directory, Tree) and part in directory else None
        return found

    def child(self, tree: bytes, name: bytes) -> bytes | None:
        """The id (20 raw bytes) under a name of one tree, without parsing it: for walking long histories."""
        try:
            return self._trees.child(tree, name)
        except (ValueError, *_DAMAGE) as error:
            raise NotAStore(self.path, f"a tree is missing or damaged ({error})") from error

    def node(self, name: bytes) -> Node:
        """A commit for walking; its parents as a shallow clone has them. The last ones read are remembered."""
        if name not in self._nodes:
            kind, raw = self._raw(ObjectID(name))
            if kind != _COMMIT:
                raise NotAStore(self.path, f"{name.decode()} is not a commit")
            if len(self._nodes) > _NODES_MOST:
                self._nodes.clear()
            if self._parents is None:
                self._parents = dict.fromkeys(self._repo.get_shallow(), ())
            self._nodes[name] = walking.parse(name, raw, self._parents.get(name))
        return self._nodes[name]

    def commits_beginning(self, prefix: str) -> list[bytes]:
        """The commits whose id begins so."""
        found = set(self._objects.iter_prefix(prefix.encode()))
        return sorted(name for name in found if self._raw(name)[0] == _COMMIT)

    def _raw(self, name: ObjectID | RawObjectID) -> tuple[int, bytes]:
        try:
            return self._objects.get_raw(name)
        except _DAMAGE as error:
            raise NotAStore(self.path, f"object {name!r} is missing or damaged") from error

    def edit_tree(self, base: bytes | None, changes: Mapping[str, bytes | None]) -> tuple[bytes, list[ShaFile]]:
        """A tree equal to `base` but for some paths.

        Args:
            base: the tree to start from, None for an empty one.
            changes: path -> blob id, None to remove it. The mode of a file that exists is kept.

        Returns:
            The new tree's id and the tree objects that are new; none of them is written yet. Empty directories vanish.
        """
        root: dict[bytes, object] = {}
        for path, blob in changes.items():
            *parents, name = os.fsencode(path).split(b"/")
            level = root
            for parent in parents:
                level = level.setdefault(parent, {})  # type: ignore[assignment]
            level[name] = blob
        new: list[ShaFile] = []
        tree = self._edit(base, root, new) or Tree()
        if not len(tree):
            new.append(tree)
        return tree.id, new

    def _edit(self, base: bytes | None, changes: Mapping[bytes, object], new: list[ShaFile]) -> Tree | None:
        tree = Tree()
        if base:
            tree.set_raw_string(self._object(base).as_raw_string())
        for name, change in changes.items():
            mode, current = tree[name] if name in tree else (REGULAR, None)  # noqa: SIM401 - a Tree has no get
            if isinstance(change, dict):
                below = self._edit(current if mode == _DIRECTORY else None, change, new)
                if below is not None:
                    tree[name] = (_DIRECTORY, below.id)
                elif name in tree:
                    del tree[name]
            elif isinstance(change, bytes):
                tree[name] = (mode if S_ISREG(mode) else REGULAR, ObjectID(change))
            elif name in tree:
                del tree[name]
        if not len(tree):
            return None
        new.append(tree)
        return tree

    def make_commit(self, tree: bytes, parent: bytes | None, author: Signature, message: str) -> Commit:
        """A commit object, not written yet."""
        commit = Commit()
        commit.tree = ObjectID(tree)
        commit.parents = [ObjectID(parent)] if parent else []
        commit.author = commit.committer = author.who.encode("utf-8", "replace")
        commit.author_time = commit.commit_time = author.time
        commit.author_timezone = commit.commit_timezone = author.offset
        commit.encoding = b"UTF-8"
        commit.message = message.encode("utf-8", "replace")
        return commit

    def write(self, objects: list[ShaFile]) -> None:
        """Store objects durably: one file each, or one pack when they are many."""
        if len(objects) >= PACK_FROM:
            self._objects.add_objects([(item, None) for item in objects])
            fsync_dir(self.path / ".git/objects/pack")
            return
        directories = set()
        for item in objects:
            name = item.id.decode()
            directory = self.path / ".git/objects" / name[:2]
            self._add(directory / name[2:], item)
            directories.add(directory)
        for directory in directories:
            with contextlib.suppress(FileNotFoundError):  # git gc has packed what was in it, and removed it
                fsync_dir(directory)
        if directories:
            fsync_dir(self.path / ".git/objects")

    def _add(self, path: Path, item: ShaFile) -> None:
        """Write one object file, if it is not there already.

        Not through dulwich: on a full disk it leaves a lock file, after which it refuses that very object for ever. A
        zero-length object, which a power cut leaves and both git and dulwich take as written, is replaced.
        """
        with contextlib.suppress(OSError):
            if path.stat().st_size:
                return
        scratch = self.path / ".git/coffer/tmp"
        make_private_dirs(scratch)
        temp = scratch / f"object.{os.getpid()}.{path.name}"
        write_new(temp, item.as_legacy_object())
        for delay in _delays(REF_WAIT_SECONDS):
            with contextlib.suppress(FileExistsError):
                path.parent.mkdir(mode=0o700)
            try:
                temp.replace(path)
            except FileNotFoundError:  # git gc, which removes empty directories, was between the two
                time.sleep(delay)
            else:
                return
        temp.replace(path)

    def advance(self, branch: Branch, new: bytes, author: Signature, reason: str) -> bool:
        """Move the branch to a commit if it still is where `branch` says; False when somebody else moved it."""
        name = Ref(branch.ref or HEADREF)
        log = {
            "committer": author.who.encode("utf-8", "replace"),
            "timestamp": author.time,
            "timezone": author.offset,
            "message": reason.encode("utf-8", "replace"),
        }
        path = self.path / ".git" / os.fsdecode(name)
        for delay in _delays(REF_WAIT_SECONDS):
            try:
                if branch.commit is None:  # set_if_equals(…, None, …) would be unconditional
                    moved = self._repo.refs.add_if_new(name, ObjectID(new), **log)  # type: ignore[arg-type]
                else:
                    moved = self._repo.refs.set_if_equals(name, ObjectID(branch.commit), ObjectID(new), **log)  # type: ignore[arg-type]
            except FileLocked:
                time.sleep(delay)
            except OSError:  # on a full disk dulwich leaves its lock file
                with contextlib.suppress(OSError):
                    path.with_name(f"{path.name}.lock").unlink()
                raise
            else:
                if moved:
                    fsync_dir(path.parent)
                return moved
        raise RefLocked(self.path, branch)

    def pack(self) -> None:
        """Pack loose objects, for machines without a git program."""
        self._objects.pack_loose_objects()


class RefLocked(CofferError):
    """The branch's lock file stayed for the whole wait."""

    code = "STORE_BUSY"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, path: Path, branch: Branch) -> None:
        lock = f"{path}/.git/{(branch.ref or HEADREF).decode()}.lock"
        super().__init__(f"{lock} is held by another git", hint="if no git is running there, remove that file")


def make_blob(data: bytes) -> Blob:
    """A blob object, not written yet."""
    return Blob.from_string(data)


def _delays(seconds: float) -> Iterator[float]:
    """Jittered waits that add up to about `seconds`."""
    deadline = time.monotonic() + seconds
    delay = 0.002
    while time.monotonic() < deadline:
        yield delay * (0.5 + random.random())  # noqa: S311 - jitter, no secret
        delay = min(delay * 1.6, 0.1)
