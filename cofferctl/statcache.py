"""The lanes as a scan found them, and the file in which the next scan finds what this one knew.

`.git/coffer/stat` holds, for each lane file, its stat signature, blob id and body hash, and how the lanes differ from
one git tree. In a large store `stat.changes` beside it holds what has changed since, so that one new fact does not
rewrite megabytes; it names the fingerprint of the state it stands on. Both are derived and disposable. Readers and
writers replace them by rename; whoever comes last leaves a state that was true when it looked, which is all the next
scan needs. The state a process read or wrote last is kept in its memory, too.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from cofferctl import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

CHANGES_FROM = 2_000
"""From this many entries on, changes are written beside the state they stand on."""
CHANGES_MOST = 500
"""More changes than this are written as a new state."""
KEPT_MOST = 4

_MAGIC = b"coffer-stat-2\n"
_HEADER = struct.Struct("<20s32s32sIIIII")
_RECORD = struct.Struct("<qqqq20s16s26s")
_NO_BLOB = bytes(20)
_NO_BASE = bytes(32)


class Entry(NamedTuple):
    """One lane file as it was found.

    Attributes:
        mtime, ctime, size, inode: its stat signature, times in nanoseconds; zeros when too young to be trusted.
        blob: the git blob id of the content with LF line ends; 20 zero bytes when the file is none of ours to read.
        body: the first 16 bytes of the SHA-256 of the fact's text.
        id: the fact's id, ASCII.
    """

    mtime: int
    ctime: int
    size: int
    inode: int
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
        changed: whether anything differs from the state this was loaded from.
        total: the sum behind `fingerprint`, None until it is asked for.
        base: the fingerprint of the state on disk that changes can be written beside.
        since: paths that changed since that.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    tree: bytes | None = None
    differs: dict[str, bytes | None] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    changed: bool = True
    total: int | None = None
    base: bytes = _NO_BASE
    since: set[str] = field(default_factory=set)

    @property
    def fingerprint(self) -> str:
        """A digest of every (path, blob id): equal for equal lanes.

        It is a sum of digests, so that one change costs one digest and not 100,000.
        """
        if self.total is None:
            self.total = sum(_digest(path, entry) for path, entry in self.entries.items())
        return f"{self.total % (1 << 256):064x}"

    def blobs(self) -> Mapping[str, str]:
        """Lane path -> blob id in hex, as `entries` has it at any time."""
        return _Blobs(self.entries)

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
        if self.total is not None:
            self.total += (_digest(path, entry) if entry else 0) - (_digest(path, before) if before else 0)
        self.since.add(path)
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


class _Blobs(Mapping[str, str]):
    """A view: writing down 100,000 ids costs more than a search, and few of them are ever asked for."""

    def __init__(self, entries: dict[str, Entry]) -> None:
        self._entries = entries

    def __getitem__(self, path: str) -> str:
        return self._entries[path].blob.hex()

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _digest(path: str, entry: Entry) -> int:
    return int.from_bytes(hashlib.sha256(os.fsencode(path) + b"\0" + entry.blob).digest(), "little")


def load(cache: Path) -> Worktree:
    """The last scan's result; an empty one when there is none that can be read."""
    marks = _marks(cache)
    kept = _kept.get(cache)
    if kept and kept[0] == marks:
        return _copy(kept[1])
    work, _, _ = _read(cache)
    if work is None:
        return Worktree()
    work.base = bytes.fromhex(work.fingerprint)
    later, base, gone = _read(_changes(cache))
    if later and base == work.base:
        work.entries |= later.entries
        for path in gone:
            work.entries.pop(path, None)
        later.entries, later.base, later.since = work.entries, base, {*later.entries, *gone}
        work = later
    _keep(cache, marks, work)
    return work


def store(work: Worktree, cache: Path) -> None:
    """Leave a scan's result for the next; quietly nothing where that cannot be written."""
    scratch = cache.parent / "tmp"  # a killed process's half is removed from there by the next write
    small = work.base == _NO_BASE or len(work.entries) < CHANGES_FROM or len(work.since) > CHANGES_MOST
    try:
        files.make_private_dirs(scratch)
        if small:
            files.write_atomic(cache, _encode(work, work.entries, _NO_BASE, ()), temp_dir=scratch, sync=False)
            work.base, work.since = bytes.fromhex(work.fingerprint), set()
        else:
            here = {path: work.entries[path] for path in work.since if path in work.entries}
            gone = work.since - here.keys()
            data = _encode(work, here, work.base, gone)
            files.write_atomic(_changes(cache), data, temp_dir=scratch, sync=False)
    except OSError:
        return
    work.changed = False
    _keep(cache, _marks(cache), work)


# What this process read or wrote last. An older state than the disk's is no harm: a scan checks each file anyway.
_Marks = tuple[tuple[int, int, int], ...]
_kept: dict[Path, tuple[_Marks, Worktree]] = {}


def _keep(cache: Path, marks: _Marks, work: Worktree) -> None:
    if len(_kept) >= KEPT_MOST and cache not in _kept:
        _kept.clear()
    _kept[cache] = (marks, _copy(work))


def _copy(work: Worktree) -> Worktree:
    """A state that can be changed without changing the other; oddities are found anew by each scan."""
    return Worktree(
        dict(work.entries),
        work.tree,
        dict(work.differs),
        changed=False,
        total=work.total,
        base=work.base,
        since=set(work.since),
    )


def _marks(cache: Path) -> _Marks:
    found = []
    for path in (cache, _changes(cache)):
        try:
            info = os.lstat(path)
        except OSError:
            found.append((0, 0, 0))
        else:
            found.append((info.st_mtime_ns, info.st_size, info.st_ino))
    return tuple(found)


def _changes(cache: Path) -> Path:
    return cache.with_name(cache.name + ".changes")


def _encode(work: Worktree, entries: Mapping[str, Entry], base: bytes, gone: Iterable[str]) -> bytes:
    names = os.fsencode("\0".join(entries))
    lost = os.fsencode("\0".join(gone))
    differs = b"".join(
        (blob or _NO_BLOB) + struct.pack("<H", len(name)) + name
        for name, blob in ((os.fsencode(path), blob) for path, blob in work.differs.items())
    )
    sizes = (len(entries), len(names), len(work.differs), len(differs), len(lost))
    header = _HEADER.pack(work.tree or _NO_BLOB, base, bytes.fromhex(work.fingerprint), *sizes)
    body = b"".join((header, names, *starmap(_RECORD.pack, entries.values()), differs, lost))
    return _MAGIC + struct.pack("<I", zlib.crc32(body)) + body


def _read(path: Path) -> tuple[Worktree | None, bytes, list[str]]:
    """A state (None if there is none), the fingerprint of the one it stands on, and the paths that are gone since."""
    try:
        data = files.read_regular(path, 1 << 30) or b""
    except OSError:
        data = b""
    start = len(_MAGIC) + 4
    body = memoryview(data)[start:]
    if (
        data[: len(_MAGIC)] != _MAGIC
        or len(body) < _HEADER.size
        or zlib.crc32(body) != struct.unpack_from("<I", data, len(_MAGIC))[0]
    ):
        return None, _NO_BASE, []
    tree, base, fingerprint, count, names_size, differing, differs_size, lost_size = _HEADER.unpack_from(body)
    at = _HEADER.size
    names, at = bytes(body[at : at + names_size]), at + names_size
    records, at = body[at : at + count * _RECORD.size], at + count * _RECORD.size
    differs, at = bytes(body[at : at + differs_size]), at + differs_size
    lost = bytes(body[at : at + lost_size])
    made = map(partial(tuple.__new__, Entry), _RECORD.iter_unpack(records))
    work = Worktree(
        dict(zip(os.fsdecode(names).split("\0"), made, strict=True)) if count else {},
        tree if tree != _NO_BLOB else None,
        _differing(differs, differing),
        changed=False,
        total=int.from_bytes(fingerprint, "big"),
    )
    return work, base, os.fsdecode(lost).split("\0") if lost else []


def _differing(data: bytes, count: int) -> dict[str, bytes | None]:
    differs: dict[str, bytes | None] = {}
    at = 0
    for _ in range(count):
        blob, length = data[at : at + 20], struct.unpack_from("<H", data, at + 20)[0]
        differs[os.fsdecode(data[at + 22 : at + 22 + length])] = blob if blob != _NO_BLOB else None
        at += 22 + length
    return differs
