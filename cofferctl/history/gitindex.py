"""The git index of a store: taking its lock, and publishing entries so that plain git sees what we committed.

With an index that lags behind HEAD, the user's next `git commit -a` would silently delete the facts it lacks.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import time
from stat import S_ISREG
from typing import TYPE_CHECKING

from dulwich.index import ConflictedIndexEntry, IndexEntry, read_index_dict_with_version, write_index_dict
from dulwich.objects import ObjectID

from cofferctl import files
from cofferctl.history import programs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cofferctl.history.repository import Repository

PROGRAM_FROM_BYTES = 200_000
"""An index of this size (about 2,000 entries) is edited by the git program, where there is one: ten times faster."""
_SKIP_WORKTREE = 1 << 14
_MODE = 0o100644
_CHECKSUM = 20


def prepare_lock(directory: Path) -> tuple[Path, tuple[int, int]]:
    """Make the file that will become index.lock, and tell its (device, inode) so that it can be logged before."""
    temp = directory / f"index.{os.getpid()}.{time.monotonic_ns()}"
    files.write_new(temp, b"", sync=False)
    info = temp.stat()
    return temp, (info.st_dev, info.st_ino)


def take_lock(git_dir: Path, temp: Path, *, wait: float) -> bool:
    """Give the prepared file the name index.lock; False when a foreign one stays for `wait` seconds."""
    deadline = time.monotonic() + wait
    while True:
        try:
            files.move_new(temp, git_dir / "index.lock")
        except FileExistsError:
            if time.monotonic() >= deadline:
                temp.unlink()
                return False
            time.sleep(0.05)
        else:
            return True


def lock_age(git_dir: Path) -> float | None:
    """Seconds since index.lock was made, None when there is none."""
    try:
        return max(0.0, time.time() - (git_dir / "index.lock").lstat().st_mtime)
    except OSError:
        return None


def release_lock(git_dir: Path, identity: tuple[int, int]) -> None:
    """Remove index.lock if it is the file we made (by device and inode)."""
    lock = git_dir / "index.lock"
    with contextlib.suppress(OSError):
        info = lock.lstat()
        if (info.st_dev, info.st_ino) == identity:
            lock.unlink()


def publish(repo: Repository, changes: Mapping[str, bytes | None], tree: bytes, scratch: Path) -> None:
    """Set the index entries of some paths; index.lock, which the caller holds, stays held.

    Args:
        repo: the store's repository.
        changes: path -> blob id in hex, None to drop the entry; entries of other paths, staged ones too, stay.
        tree: the tree that will be HEAD's, from which an unreadable index is made anew.
        scratch: a directory of ours on the same file system.
    """
    git_dir = repo.path / ".git"
    new = scratch / f"index.{os.getpid()}.{time.monotonic_ns()}"
    try:
        if not _edited(repo, changes, new):
            files.write_new(new, _from_tree(repo, tree))
        os.replace(new, git_dir / "index")
    finally:
        for leftover in (new, new.with_name(new.name + ".lock")):
            with contextlib.suppress(OSError):
                leftover.unlink()
    files.fsync_dir(git_dir)


def _edited(repo: Repository, changes: Mapping[str, bytes | None], new: Path) -> bool:
    """Make an edited copy of the index; False when neither the library nor a git program can read it."""
    program = programs.git()
    try:
        size = (repo.path / ".git/index").stat().st_size
    except FileNotFoundError:
        return False
    if program and size > PROGRAM_FROM_BYTES and _by_program(program, repo.path, changes, new):
        return True
    data = _by_library(repo, changes)
    if data is not None:
        files.write_new(new, data)
        return True
    # a split or sparse index, which dulwich cannot read
    return bool(program) and _by_program(str(program), repo.path, changes, new)


def skipped(repo: Repository) -> set[str] | None:
    """Paths that the user told git to leave out of the work tree (skip-worktree); None when the index is unreadable."""
    entries = _read(repo.path / ".git/index")
    if entries is None:
        return None
    return {
        os.fsdecode(path)
        for path, entry in entries[0].items()
        if isinstance(entry, IndexEntry) and entry.extended_flags & _SKIP_WORKTREE
    }


def _read(index: Path) -> tuple[dict[bytes, IndexEntry | ConflictedIndexEntry], int] | None:
    """Entries and format version of an index; no entries when there is none, None when dulwich cannot read it."""
    try:
        raw = index.read_bytes()
    except FileNotFoundError:
        return {}, 2
    stream = io.BytesIO(raw)
    try:
        entries, version, _ = read_index_dict_with_version(stream)
    except Exception:  # noqa: BLE001 - dulwich raises anything on an index it does not understand
        return None
    # It stops without a word at the extensions of a split or a sparse index, most of whose entries are elsewhere.
    return (entries, version) if stream.tell() == len(raw) - _CHECKSUM else None


def _by_library(repo: Repository, changes: Mapping[str, bytes | None]) -> bytes | None:
    index = repo.path / ".git/index"
    read = _read(index) if index.exists() else None
    if read is None:
        return None
    entries, version = read
    for path, blob in changes.items():
        name = os.fsencode(path)
        if blob is None:
            entries.pop(name, None)
        else:
            entries[name] = _entry(blob, entries.get(name))
    return _written(entries, version)


def _written(entries: Mapping[bytes, IndexEntry | ConflictedIndexEntry], version: int) -> bytes:
    out = io.BytesIO()
    write_index_dict(out, entries, version=version)
    body = out.getvalue()
    return body + hashlib.sha1(body, usedforsecurity=False).digest()  # an index file ends with its own SHA-1


def _entry(blob: bytes, before: IndexEntry | ConflictedIndexEntry | None) -> IndexEntry:
    """An entry without stat data: git compares the content itself once, so no edit of this moment can look clean."""
    mode = before.mode if isinstance(before, IndexEntry) and S_ISREG(before.mode) else _MODE
    return IndexEntry(ctime=0, mtime=0, dev=0, ino=0, mode=mode, uid=0, gid=0, size=0, sha=ObjectID(blob))


def _by_program(program: str, store: Path, changes: Mapping[str, bytes | None], new: Path) -> bool:
    lines = b"".join(
        (b"0 " + b"0" * 40 if blob is None else b"100644 " + blob) + b"\t" + os.fsencode(path) + b"\0"
        for path, blob in changes.items()
    )
    try:
        shutil.copyfile(store / ".git/index", new)
        command = ["update-index", "-z", "--index-info"]
        done = programs.run(program, store, command, stdin=lines, extra={"GIT_INDEX_FILE": str(new)})
        if done:
            files.fsync_file(new)
    except OSError:
        done = False
    if not done:
        with contextlib.suppress(OSError):
            new.unlink()
    return done


def _from_tree(repo: Repository, tree: bytes) -> bytes:
    return _written({os.fsencode(path): _entry(blob, None) for path, blob in repo.paths(tree)}, 2)
