"""What lies in a store's lanes right now: a scan that rehashes only what changed since the last one.

The scan's result is kept in `.git/coffer/stat`, derived and disposable: for each lane file its stat signature, blob id
and body hash, and how the lanes differ from one git tree. Readers and writers replace that file by rename; whoever
comes last leaves a state that was true when it looked, which is all the next scan needs.
"""

from __future__ import annotations

import hashlib
import os
import struct
import time
import zlib
from dataclasses import dataclass, field
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, NamedTuple

from cofferctl import fact, files, lanes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RACY_NS = 2_000_000_000
"""A file touched less than this before a scan is hashed again by the next: its clock may not tell two writes apart."""
SETTLING_SECONDS = 1.0
"""An empty file, or a missing one, this young may be an editor in the middle of saving."""

_MAGIC = b"coffer-stat-1\n"
_HEADER = struct.Struct("<20sIIQQ")
_RECORD = struct.Struct("<qqqq20s16s26s")
_NO_BLOB = bytes(20)
_UNTRUSTED = (0, 0, 0, 0)


class Entry(NamedTuple):
    """One lane file as it was found.

    Attributes:
        signature: (mtime, ctime, size, inode), times in nanoseconds; zeros when too young to be trusted.
        blob: the git blob id of the content with LF line ends; 20 zero bytes when the file is none of ours to read.
        body: the first 16 bytes of the SHA-256 of the fact's text.
        id: the fact's id, ASCII.
    """

    signature: tuple[int, int, int, int]
    blob: bytes
    body: bytes
    id: bytes


@dataclass(slots=True)
class Worktree:
    """The lanes on disk, and their difference from one git tree.

    Attributes:
        entries: lane path -> entry, of every readable lane file.
        tree: the git tree (20 bytes) that `differs` speaks of, None when there is none yet.
        differs: lane path -> blob id in `tree` (None: not in it), where it is not what `entries` says.
        odd: lane paths that are there but are not ours to read -> why (link, FIFO, too large, binary, unreadable).
        unreadable: directories that could not be listed; nothing is known of what they hold.
        changed: whether anything differs from the file this was loaded from.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    tree: bytes | None = None
    differs: dict[str, bytes | None] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    changed: bool = True
    _fingerprint: str = ""

    @property
    def fingerprint(self) -> str:
        """A digest of every (path, blob id): equal for equal lanes."""
        if not self._fingerprint:
            digest = hashlib.sha256()
            for path, entry in sorted(self.entries.items()):
                digest.update(os.fsencode(path) + b"\0" + entry.blob)
            self._fingerprint = digest.hexdigest()[:32]
        return self._fingerprint

    def blobs(self) -> dict[str, str]:
        """Lane path -> blob id in hex."""
        return {path: entry.blob.hex() for path, entry in self.entries.items()}

    def in_tree(self, path: str) -> bytes | None:
        """The blob id of a path in `tree`, None when it has no such path."""
        if path in self.differs:
            return self.differs[path]
        entry = self.entries.get(path)
        return entry.blob if entry else None

    def put(self, path: str, entry: Entry | None) -> None:
        """Take in how a file is now (None: gone), keeping what `tree` holds."""
        before = self.entries.get(path)
        committed = self.in_tree(path)
        if entry is None:
            self.entries.pop(path, None)
        else:
            self.entries[path] = entry
        if (before.blob if before else None) != (entry.blob if entry else None):
            self._fingerprint = ""
        self._compare(path, committed)
        self.changed = True

    def commit(self, path: str, blob: bytes | None) -> None:
        """Take in what `tree` holds at a path now (None: nothing)."""
        self._compare(path, blob)
        self.changed = True

    def _compare(self, path: str, committed: bytes | None) -> None:
        entry = self.entries.get(path)
        if (entry.blob if entry else None) == committed:
            self.differs.pop(path, None)
        else:
            self.differs[path] = committed


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
    known = work.entries
    started = time.time_ns()
    seen: dict[str, Entry] = {}
    stale: list[tuple[str, Entry]] = []
    for path, info in _walk(root, work):
        signature = (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)
        entry = known.get(path)
        if entry is not None and entry.signature == signature:
            seen[path] = entry
        else:
            stale.append((path, Entry(signature, _NO_BLOB, b"", b"")))
    for path, found in stale:
        _take(root, work, seen, path, found.signature, started)
    for path, _ in stale:
        if path in seen:
            work.put(path, seen[path])
    if len(known) != len(seen):
        for path in known.keys() - seen.keys():
            work.put(path, None)
    if work.changed and save:
        store(work, cache)
    return work


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


def _take(
    root: Path,
    work: Worktree,
    seen: dict[str, Entry],
    path: str,
    signature: tuple[int, int, int, int],
    started: int,
) -> None:
    """Read and hash one file whose signature is not the known one."""
    try:
        data = files.read_regular(root / path)
    except OSError as error:
        work.odd[path] = f"unreadable: {error.strerror}"
        return
    if data is None:  # it went, or changed into something else, since it was listed
        return
    if b"\0" in data:
        work.odd[path] = "binary"
        return
    seen[path] = describe(path, data, signature, started)


def describe(path: str, data: bytes, signature: tuple[int, int, int, int] = _UNTRUSTED, started: int = 0) -> Entry:
    """The entry of a file with this content and stat signature, seen by a scan that started at `started` (ns)."""
    young = max(signature[0], signature[1]) >= started - RACY_NS
    parsed = fact.parse(path, data)
    return Entry(
        _UNTRUSTED if young else signature, blob_id(fact.normalize(data)), body_hash(parsed.body), parsed.id.encode()
    )


def _walk(root: Path, work: Worktree) -> Iterator[tuple[str, os.stat_result]]:
    pending = [name for name in lanes.ROOTS if _real_directory(root / name)]
    while pending:
        directory = pending.pop()
        try:
            listing = os.scandir(root / directory)
        except OSError:
            work.unreadable.append(directory)
            continue
        with listing:
            for item in listing:
                name = item.name
                if not name.endswith(".md"):
                    if name[0] != "." and item.is_dir(follow_symlinks=False) and not _is_repository(item.path):
                        pending.append(f"{directory}/{name}")
                    continue
                path = f"{directory}/{name}"
                if name[0] in ".#" or lanes.lane_of(path) is None:
                    continue
                try:
                    info = item.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                why = _odd(info)
                if why:
                    work.odd[path] = why
                else:
                    yield path, info


def _odd(info: os.stat_result) -> str:
    if not S_ISREG(info.st_mode):
        return "a directory" if S_ISDIR(info.st_mode) else "not a regular file"
    return "over 1 MB" if info.st_size > files.MAX_TEXT_BYTES else ""


def _real_directory(path: Path) -> bool:
    try:
        return S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _is_repository(path: str) -> bool:
    return os.path.lexists(os.path.join(path, ".git"))


def load(cache: Path) -> Worktree:
    """The last scan's result; an empty one when there is none that can be read."""
    try:
        data = files.read_regular(cache, 1 << 30)
    except OSError:
        data = None
    work = _decode(data) if data else None
    return work or Worktree()


def store(work: Worktree, cache: Path) -> None:
    """Leave a scan's result for the next; quietly nothing where that cannot be written."""
    try:
        files.make_private_dirs(cache.parent)
        files.write_atomic(cache, _encode(work), sync=False)
    except OSError:
        return
    work.changed = False


def _encode(work: Worktree) -> bytes:
    paths = list(work.entries)
    names = b"\0".join(map(os.fsencode, paths))
    extra = b"".join(
        (blob or _NO_BLOB) + struct.pack("<H", len(name)) + name
        for name, blob in ((os.fsencode(path), blob) for path, blob in work.differs.items())
    )
    body = b"".join(
        (
            _HEADER.pack(work.tree or _NO_BLOB, len(paths), len(work.differs), len(names), len(extra)),
            bytes.fromhex(work.fingerprint),
            names,
            b"".join([_RECORD.pack(*entry.signature, *entry[1:]) for entry in work.entries.values()]),
            extra,
        )
    )
    return _MAGIC + struct.pack("<I", zlib.crc32(body)) + body


def _decode(data: bytes) -> Worktree | None:
    start = len(_MAGIC) + 4
    body = memoryview(data)[start:]
    if data[: len(_MAGIC)] != _MAGIC or zlib.crc32(body) != struct.unpack_from("<I", data, len(_MAGIC))[0]:
        return None
    tree, count, differing, names_size, extra_size = _HEADER.unpack_from(body)
    at = _HEADER.size
    fingerprint = bytes(body[at : at + 16]).hex()
    at += 16
    names = bytes(body[at : at + names_size])
    at += names_size
    records = body[at : at + count * _RECORD.size]
    paths = map(os.fsdecode, names.split(b"\0")) if count else ()
    entries = {
        path: Entry((mtime, ctime, size, inode), blob, body, identifier)
        for path, (mtime, ctime, size, inode, blob, body, identifier) in zip(
            paths, _RECORD.iter_unpack(records), strict=True
        )
    }
    differs = _decode_differs(bytes(body[at + count * _RECORD.size :][:extra_size]), differing)
    return Worktree(entries, tree if tree != _NO_BLOB else None, differs, changed=False, _fingerprint=fingerprint)


def _decode_differs(data: bytes, count: int) -> dict[str, bytes | None]:
    differs: dict[str, bytes | None] = {}
    at = 0
    for _ in range(count):
        blob, length = data[at : at + 20], struct.unpack_from("<H", data, at + 20)[0]
        differs[os.fsdecode(data[at + 22 : at + 22 + length])] = blob if blob != _NO_BLOB else None
        at += 22 + length
    return differs
