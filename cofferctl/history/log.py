"""Reading a store's history: which commit did what, when, by whom."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dulwich.walk import ORDER_TOPO

from cofferctl import lanes
from cofferctl.errors import CofferError, ExitCode
from cofferctl.history import message
from cofferctl.history.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet
    from datetime import datetime
    from pathlib import Path

    from dulwich.objects import Commit

    from cofferctl.history.message import Record

_HEX = re.compile(r"[0-9a-f]{4,40}")
_RELATIVE = re.compile(r"(HEAD|main|@)?~(\d{1,6})")


class NoSuchRevision(CofferError):
    """A revision that this store's history does not have."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, revision: str) -> None:
        super().__init__(f"no such revision: {revision}", hint="`cofferctl log` shows the commits there are")


@dataclass(frozen=True, slots=True)
class Delta:
    """What a commit did to one path: blob ids in hex before and after, None for not there."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit: its id, its first parent, POSIX time, what it says of itself, and what it did to the lanes."""

    commit: str
    parent: str | None
    time: int
    author: str
    record: Record
    deltas: tuple[Delta, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The lane paths it touched."""
        return tuple(delta.path for delta in self.deltas if lanes.lane_of(delta.path))


class History:
    """The commits of one store, newest first."""

    def __init__(self, store: Path) -> None:
        self._repo = Repository(store)

    def close(self) -> None:
        """Release open files."""
        self._repo.close()

    def entries(self) -> Iterator[Entry]:
        """Every commit from HEAD back, children before parents."""
        for commit in self._walk():
            yield self._entry(commit)

    def touching(self, path: str) -> Iterator[Entry]:
        """The commits that changed one path."""
        return self.touching_any({path})

    def touching_any(self, paths: AbstractSet[str]) -> Iterator[Entry]:
        """The commits that changed one of some paths; the set may grow while they are walked."""
        for commit in self._walk():
            if any(self._changed(commit, os.fsencode(path)) for path in paths):
                yield self._entry(commit)

    def _changed(self, commit: Commit, path: bytes) -> bool:
        """Whether a commit gave a path something none of its parents has there."""
        now = self._repo.blob_at(commit.tree, path)
        if not commit.parents:
            return now is not None
        return all(self._repo.blob_at(self._repo.commit(parent).tree, path) != now for parent in commit.parents)

    def resolve(self, revision: str) -> str:
        """A commit id from an id's beginning, HEAD or HEAD~n.

        Raises:
            NoSuchRevision: there is none, or several begin so.
        """
        head = self._repo.branch().commit
        relative = _RELATIVE.fullmatch(revision)
        if revision in ("HEAD", "@") or relative:
            back = int(relative[2]) if relative else 0
            for number, commit in enumerate(self._first_parents(head)):
                if number == back:
                    return commit.id.decode()
        elif _HEX.fullmatch(revision):
            found = [commit.id.decode() for commit in self._walk() if commit.id.decode().startswith(revision)]
            if len(found) == 1:
                return found[0]
        raise NoSuchRevision(revision)

    def at(self, moment: datetime) -> str | None:
        """The newest commit made at or before a moment."""
        for commit in self._walk():
            if commit.commit_time <= moment.timestamp():
                return commit.id.decode()
        return None

    def content(self, commit: str, path: str) -> bytes | None:
        """A path's bytes in a commit, None when it has no such path."""
        found = self._repo.lookup(self._repo.tree_of(commit.encode()), path)
        return self._repo.blob(found[1]) if found else None

    def blob(self, name: str) -> bytes:
        """A blob's bytes, by its hex id."""
        return self._repo.blob(name.encode())

    def head(self) -> str | None:
        """HEAD's commit."""
        commit = self._repo.branch().commit
        return commit.decode() if commit else None

    def paths(self, commit: str) -> Iterator[str]:
        """Every lane path of a commit."""
        for path, _ in self._repo.paths(self._repo.tree_of(commit.encode())):
            if lanes.lane_of(path):
                yield path

    def _walk(self) -> Iterator[Commit]:
        head = self._repo.branch().commit
        if head is None:
            return
        for step in self._repo.walker(head, ORDER_TOPO):
            yield step.commit

    def _first_parents(self, head: bytes | None) -> Iterator[Commit]:
        while head is not None:
            commit = self._repo.commit(head)
            yield commit
            head = commit.parents[0] if commit.parents else None

    def _entry(self, commit: Commit) -> Entry:
        parent = commit.parents[0] if commit.parents else None
        changed = self._repo.changes(self._repo.tree_of(parent), commit.tree)
        deltas = sorted(
            (Delta(path, _hex(before), _hex(after)) for path, before, after in changed if _ours(path)),
            key=lambda delta: delta.path,
        )
        return Entry(
            commit=commit.id.decode(),
            parent=parent.decode() if parent else None,
            time=commit.commit_time,
            author=commit.author.decode("utf-8", "replace"),
            record=message.parse(commit.message.decode("utf-8", "replace")),
            deltas=tuple(deltas),
        )


def _ours(path: str) -> bool:
    return lanes.lane_of(path) is not None or path in lanes.STORE_FILES


def _hex(blob: bytes | None) -> str | None:
    return blob.decode() if blob else None


def last_commit(store: Path, path: str) -> str | None:
    """The commit that last changed a path, None when none did yet."""
    history = History(store)
    try:
        return next((entry.commit for entry in history.touching(path)), None)
    finally:
        history.close()
