"""What somebody else did to the lanes since HEAD: the edits a write commits, as outside edits, before its own."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cofferctl import fact, files, lanes, worktree
from cofferctl.history import gitindex

if TYPE_CHECKING:
    from pathlib import Path

    from cofferctl.history.repository import Repository
    from cofferctl.worktree import Worktree

MASS_SHARE = 0.2
MASS_COUNT = 5
"""More facts gone than this, and more than that share of all, are not taken for a person's wish."""
_SETTLE_SECONDS = 0.1


@dataclass(slots=True)
class Snapshot:
    """Outside edits against HEAD's tree.

    Attributes:
        work: the lanes as scanned, with `tree` set to HEAD's.
        contents: path -> bytes to commit.
        deleted: paths to commit as deleted.
        store_files: the store's own files as they are.
        notices: what was left out, for the user.
        unfinished: the git operation the store is in the middle of, in words.
        withheld: paths that are gone, but too many at once to be taken for a person's wish.
    """

    work: Worktree
    contents: dict[str, bytes] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    store_files: dict[str, bytes] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    unfinished: str | None = None
    withheld: list[str] = field(default_factory=list)


def take(repo: Repository, tree: bytes | None, cache: Path) -> Snapshot:
    """Look at the lanes, and find what differs from HEAD's tree.

    Args:
        repo: the store's repository, whose index.lock we hold: a checkout under way, which removes files one by one
            while HEAD still names the old branch, would otherwise be committed as a mass deletion.
        tree: HEAD's tree, hex, None when unborn.
        cache: where the last scan is kept.
    """
    work = _compared(repo, tree, cache)
    suspects = [path for path in work.differs if path not in work.entries or _is_empty(work, path)]
    if worktree.settle(repo.path, work, suspects):
        time.sleep(_SETTLE_SECONDS)
        work = _compared(repo, tree, cache)
    found = Snapshot(work)
    for path in sorted(work.differs):
        if path in work.entries:
            _read(repo, found, path)
        else:
            found.deleted.append(path)
    if found.deleted:
        found.deleted = _wished(repo, found)
    for name in lanes.STORE_FILES:
        _store_file(repo, tree, found, name)
    return found


def _compared(repo: Repository, tree: bytes | None, cache: Path) -> Worktree:
    work = worktree.scan(repo.path, cache, save=False)
    wanted = bytes.fromhex(tree.decode()) if tree else None
    if work.tree == wanted:
        return work
    try:
        changed = repo.changes(work.tree.hex().encode() if work.tree else None, tree)
        for path, _, blob in changed:
            if lanes.lane_of(path):
                work.commit(path, bytes.fromhex(blob.decode()) if blob else None)
    except KeyError:  # the tree of the last scan is not in this repository any more
        committed = {path: bytes.fromhex(blob.decode()) for path, blob in repo.paths(tree) if lanes.lane_of(path)}
        work.differs.clear()
        for path in work.entries.keys() | committed.keys():
            work.commit(path, committed.get(path))
    work.tree = wanted
    return work


def _is_empty(work: Worktree, path: str) -> bool:
    return work.entries[path].blob == _EMPTY


_EMPTY = worktree.blob_id(b"")


def _read(repo: Repository, found: Snapshot, path: str) -> None:
    """Take a file's bytes as they are now; one that changed since the scan is taken by the next write."""
    try:
        data = files.read_regular(repo.path / path)
    except OSError:
        data = None
    if data is None:
        return
    data = fact.normalize(data)
    if worktree.blob_id(data) == found.work.entries[path].blob:
        found.contents[path] = data


def _store_file(repo: Repository, tree: bytes | None, found: Snapshot, name: str) -> None:
    data = files.read_regular(repo.path / name)
    if data is None:
        return
    data = found.store_files[name] = fact.normalize(data)
    committed = repo.lookup(tree, name)
    if committed is None or committed[1] != worktree.blob_id(data).hex().encode():
        found.contents[name] = data


def _hidden(root: Path, path: str) -> bool:
    """Whether something is there after all, or a link or a file stands where the file's directory was."""
    place = root
    for part in path.split("/")[:-1]:
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            return True
    return os.path.lexists(root / path)


def _wished(repo: Repository, found: Snapshot) -> list[str]:
    """Of the paths that are gone, those that a person has deleted."""
    work = found.work
    here = {lanes.fold(path) for path in work.entries if work.in_tree(path) is not None}
    skipped = gitindex.skipped(repo)
    gone = [
        path
        for path in found.deleted
        if path not in work.odd
        and lanes.fold(path) not in here  # one of two names that this case-blind disk cannot tell apart
        and skipped is not None
        and path not in skipped
        and not any(path.startswith(f"{directory}/") for directory in work.unreadable)
        and not _hidden(repo.path, path)
    ]
    committed = sum(1 for path in work.entries.keys() | work.differs.keys() if work.in_tree(path) is not None)
    if len(gone) > MASS_COUNT and len(gone) > MASS_SHARE * committed:
        found.notices.append(
            f"{len(gone)} of {committed} files are gone from the store but were not committed as deleted: "
            f"if that is meant, run `cofferctl doctor --fix` or `git -C {repo.path} commit -a`; "
            f"else `git -C {repo.path} checkout -- .`"
        )
        found.withheld = gone
        return []
    return gone
