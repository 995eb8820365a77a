"""Reading a store's history: which commit did what, when, by whom."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from cofferctl import lanes
from cofferctl.errors import CofferError, ExitCode
from cofferctl.history import message
from cofferctl.history.repository import Repository
from cofferctl.history.walking import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet
    from datetime import datetime
    from pathlib import Path

    from cofferctl.history.message import Record
    from cofferctl.history.walking import Node

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


@dataclass(frozen=True)
class Entry:
    """One commit: its id, its parents, POSIX time, what it says of itself, and what it did to the lanes.

    `deltas` are against the first parent and looked up when they are first asked for.
    """

    commit: str
    parents: tuple[str, ...]
    time: int
    author: str
    record: Record
    _compare: Callable[[], tuple[Delta, ...]] = field(repr=False, compare=False)

    @property
    def parent(self) -> str | None:
        """Its first parent."""
        return self.parents[0] if self.parents else None

    @cached_property
    def deltas(self) -> tuple[Delta, ...]:
        """What it did to the lanes and the store's own files, by path."""
        return self._compare()

    @property
    def paths(self) -> tuple[str, ...]:
        """The lane paths it touched."""
        return tuple(delta.path for delta in self.deltas if lanes.lane_of(delta.path))


class History:
    """The commits of one store, newest first."""

    def __init__(self, store: Path) -> None:
        self._repo = Repository(store)
        self._walk = Walk(self._repo)

    def close(self) -> None:
        """Release open files."""
        self._repo.close()

    def entries(self) -> Iterator[Entry]:
        """Every commit from HEAD back, children before parents."""
        head = self._repo.branch().commit
        return map(self._entry, self._walk.nodes(head)) if head else iter(())

    def entry(self, commit: str) -> Entry:
        """One commit."""
        return self._entry(self._repo.node(commit.encode()))

    def touching(self, path: str) -> Iterator[Entry]:
        """The commits that changed one path."""
        return self.touching_any({path})

    def touching_any(self, paths: AbstractSet[str]) -> Iterator[Entry]:
        """The commits that changed one of some paths; the set may grow while they are walked."""
        head = self._repo.branch().commit
        if head is None:
            return
        names = {os.fsencode(path) for path in paths}
        for node in self._walk.touching(head, names):
            yield self._entry(node)
            names |= {os.fsencode(path) for path in paths}

    def resolve(self, revision: str) -> str:
        """A commit id from an id's beginning, HEAD or HEAD~n.

        Raises:
            NoSuchRevision: there is none, or several begin so.
        """
        relative = _RELATIVE.fullmatch(revision)
        if revision in ("HEAD", "@") or relative:
            back = int(relative[2]) if relative else 0
            for node in islice(self._first_parents(), back, None):
                return node.id.decode()
        elif _HEX.fullmatch(revision):
            found = self._repo.commits_beginning(revision)
            if len(found) == 1:
                return found[0].decode()
        raise NoSuchRevision(revision)

    def at(self, moment: datetime) -> str | None:
        """The newest commit made at or before a moment."""
        head = self._repo.branch().commit
        nodes = self._walk.nodes(head) if head else ()
        return next((node.id.decode() for node in nodes if node.time <= moment.timestamp()), None)

    def changes(self, old: str | None, new: str | None) -> tuple[Delta, ...]:
        """How the lanes and the store's own files differ between two commits (None: an empty store)."""
        trees = (self._repo.node(commit.encode()).tree if commit else None for commit in (old, new))
        changed = (Delta(path, _hex(before), _hex(after)) for path, before, after in self._repo.changes(*trees))
        return tuple(sorted((delta for delta in changed if _ours(delta.path)), key=lambda delta: delta.path))

    def content(self, commit: str, path: str) -> bytes | None:
        """A path's bytes in a commit, None when it has no such path."""
        found = self._repo.lookup(self._repo.tree_of(commit.encode()), path)
        return self._repo.blob(found[1]) if found else None

    def blob_id(self, commit: str, path: str) -> str | None:
        """The id of a path's blob in a commit, None when it has no such path."""
        found = self._repo.lookup(self._repo.node(commit.encode()).tree, path)
        return found[1].decode() if found else None

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

    def _first_parents(self) -> Iterator[Node]:
        name = self._repo.branch().commit
        while name is not None:
            node = self._repo.node(name)
            yield node
            name = node.parents[0] if node.parents else None

    def _entry(self, node: Node) -> Entry:
        commit, parents = node.id.decode(), tuple(parent.decode() for parent in node.parents)
        return Entry(
            commit=commit,
            parents=parents,
            time=node.time,
            author=node.author.decode("utf-8", "replace"),
            record=message.parse(node.message.decode("utf-8", "replace")),
            _compare=lambda: self.changes(parents[0] if parents else None, commit),
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
