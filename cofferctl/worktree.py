"""What lies in a store's lanes right now: a scan that rehashes only what changed since the last one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from cofferctl import fact, files, lanes
from cofferctl.statcache import Entry, Worktree, load, store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Entry", "Worktree", "blob_id", "body_hash", "describe", "scan", "settle", "store"]

RACY_NS = 2_000_000_000
"""A file touched less than this before a scan is hashed again by the next: its clock may not tell two writes apart."""
SETTLING_SECONDS = 1.0
"""An empty file, or a missing one, this young may be an editor in the middle of saving."""

_UNTRUSTED = (0, 0, 0, 0)
_BY_HANDLE = os.scandir in os.supports_fd and hasattr(os, "O_DIRECTORY")
"""Looking up names in an open directory is a third faster than by path."""


def blob_id(data: bytes) -> bytes:
    """The git blob id (SHA-1, 20 bytes) of some content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


def body_hash(body: str) -> bytes:
    """What tells two facts' texts apart: 16 bytes of SHA-256."""
    return hashlib.sha256(body.encode("utf-8", "surrogateescape")).digest()[:16]


def scan(root: Path, cache: Path, *, save: bool = True) -> Worktree:
    """Look at every lane file of the store at `root`.

    Args:
        root: the store's directory.
        cache: the file with the last scan's result; missing, damaged or of another format is the same as none.
        save: whether to leave the result there for the next scan (never fails: a read-only store has no cache).

    Returns:
        The lanes as they are, whose `entries` agree with the disk at some moment during the call.
    """
    work = load(cache)
    started = time.time_ns()
    seen: list[str] = []
    stale: list[tuple[str, os.stat_result]] = []
    pending = [name for name in lanes.ROOTS if _real_directory(root / name)]
    while pending:
        directory = pending.pop()
        try:
            pending += _look(root, directory, work, seen, stale)
        except OSError:
            work.unreadable.append(directory)
    for path, info in stale:
        entry = _take(root, work, path, info, started)
        if entry is not None:
            work.put(path, entry)
            seen.append(path)
    if len(work.entries) != len(seen):
        for path in work.entries.keys() - set(seen):
            work.put(path, None)
    if work.changed and save:
        store(work, cache)
    return work


def _look(
    root: Path, directory: str, work: Worktree, seen: list[str], stale: list[tuple[str, os.stat_result]]
) -> list[str]:
    """Sort one directory's files into those that are as they are known and all others; its subdirectories.

    For a large store this loop is most of what a recall costs, hence its form.
    """
    below: list[str] = []
    known = work.entries.get
    prefix = f"{directory}/"
    with _listing(root / directory) as listing:
        for item in listing:
            path = prefix + item.name
            entry = known(path)
            if entry is None and not _is_lane_file(root, path, item, below):
                continue
            try:
                info = item.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if (
                entry is not None
                and entry[0] == info.st_mtime_ns
                and entry[1] == info.st_ctime_ns
                and entry[2] == info.st_size
                and entry[3] == info.st_ino
            ):
                seen.append(path)
            elif why := _odd(info):
                work.odd[path] = why
            else:
                stale.append((path, info))
    return below


def _is_lane_file(root: Path, path: str, item: os.DirEntry[str], below: list[str]) -> bool:
    """Whether a name that is not known yet is a lane file's; a subdirectory's is added to `below`."""
    name = item.name
    if name.endswith(".md"):
        return lanes.lane_of(path) is not None
    if name[0] != "." and item.is_dir(follow_symlinks=False) and not os.path.lexists(root / path / ".git"):
        below.append(path)
    return False


@contextlib.contextmanager
def _listing(directory: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
    if not _BY_HANDLE:
        with os.scandir(directory) as listing:
            yield listing
        return
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(handle) as listing:
            yield listing
    finally:
        os.close(handle)


def settle(root: Path, work: Worktree, paths: list[str]) -> bool:
    """Whether any of these missing or empty files is so young a change that it should be looked at again."""
    now = time.time()
    for path in paths:
        target = root / path
        watched = target if path in work.entries else _existing(target.parent)
        try:
            if now - watched.stat().st_mtime < SETTLING_SECONDS:
                return True
        except OSError:
            continue
    return False


def _existing(directory: Path) -> Path:
    while not directory.is_dir() and directory != directory.parent:
        directory = directory.parent
    return directory


def _take(root: Path, work: Worktree, path: str, info: os.stat_result, started: int) -> Entry | None:
    """Read and hash one file whose signature is not the known one; None when it is not ours to read."""
    try:
        data = files.read_regular(root / path)
    except OSError as error:
        work.odd[path] = f"unreadable: {error.strerror}"
        return None
    if data is None:  # it went, or changed into something else, since it was listed
        return None
    if b"\0" in data:
        work.odd[path] = "binary"
        return None
    return describe(path, data, (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino), started)


def describe(path: str, data: bytes, signature: tuple[int, int, int, int] = _UNTRUSTED, started: int = 0) -> Entry:
    """The entry of a file with this content and stat signature, seen by a scan that started at `started` (ns)."""
    young = max(signature[0], signature[1]) >= started - RACY_NS
    parsed = fact.parse(path, data)
    trusted = _UNTRUSTED if young else signature
    return Entry(*trusted, blob_id(fact.normalize(data)), body_hash(parsed.body), parsed.id.encode())


def _odd(info: os.stat_result) -> str:
    if not S_ISREG(info.st_mode):
        return "a directory" if S_ISDIR(info.st_mode) else "not a regular file"
    return "over 1 MB" if info.st_size > files.MAX_TEXT_BYTES else ""


def _real_directory(path: Path) -> bool:
    try:
        return S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
