"""Reading a store's history: which commit did what, when, by whom."""

from __future__ import annotations

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
class Entry:
    """One commit: its id, POSIX time, what it says of itself, and the lane paths it touched."""

    commit: str
    time: int
    record: Record
    paths: tuple[str, ...]


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
        for commit in self._walk():
            now = self._repo.lookup(commit.tree, path)
            before = [self._repo.lookup(self._repo.tree_of(parent), path) for parent in commit.parents]
            if (now is not None) if not before else all(old != now for old in before):
                yield self._entry(commit)

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
        parent = self._repo.tree_of(commit.parents[0]) if commit.parents else None
        changed = (path for path, _ in self._repo.changes(parent, commit.tree))
        record = message.parse(commit.message.decode("utf-8", "replace"))
        return Entry(
            commit.id.decode(),
            commit.commit_time,
            record,
            tuple(sorted(path for path in changed if lanes.lane_of(path))),
        )


def last_commit(store: Path, path: str) -> str | None:
    """The commit that last changed a path, None when none did yet."""
    history = History(store)
    try:
        return next((entry.commit for entry in history.touching(path)), None)
    finally:
        history.close()
