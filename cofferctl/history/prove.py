"""Whether a project's own object database holds one of some commits: the proof that two directories are one project.

The project is not trusted. Nothing but regular files right inside its `objects` is read: no links, no alternates, no
config, and what is found must hash to the id that was asked for.
"""

from __future__ import annotations

import hashlib
import stat
import zlib
from typing import TYPE_CHECKING

from cofferctl import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import BinaryIO

    from dulwich.pack import PackIndex

MAX_COMMIT_BYTES = 1_000_000
MAX_PACKS = 200
MAX_INDEX_BYTES = 1 << 30
MAX_DELTAS = 64
_COMMIT, _OFFSET_DELTA, _REFERENCE_DELTA = 1, 6, 7
_HASHES = {40: "sha1", 64: "sha256"}


def holds(git_dir: Path, commits: Iterable[str]) -> bool:
    """Whether `<git_dir>/objects` really holds one of these commits (hex ids); False for all that cannot be read."""
    objects = git_dir / "objects"
    if not _real_directory(objects):
        return False
    wanted = [commit for commit in reversed(list(commits)) if len(commit) in _HASHES]
    try:
        return any(_loose(objects, commit) for commit in wanted) or _packed(objects, wanted)
    except Exception:  # noqa: BLE001 - a hostile pack may make a parser fail in any way; none of them is a proof
        return False


def _real_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _is(kind: bytes, data: bytes, commit: str) -> bool:
    digest = hashlib.new(_HASHES[len(commit)], kind + b" %d\0" % len(data) + data, usedforsecurity=False)
    return kind == b"commit" and digest.hexdigest() == commit


def _loose(objects: Path, commit: str) -> bool:
    directory = objects / commit[:2]
    data = files.read_regular(directory / commit[2:]) if _real_directory(directory) else None
    if data is None:
        return False
    whole = zlib.decompressobj().decompress(data, MAX_COMMIT_BYTES)
    head, _, body = whole.partition(b"\0")
    return _is(head.partition(b" ")[0], body, commit)


def _packed(objects: Path, commits: list[str]) -> bool:
    packs = objects / "pack"
    if not _real_directory(packs):
        return False
    for index in sorted(packs.glob("*.idx"))[:MAX_PACKS]:
        info, pack = index.lstat(), index.with_suffix(".pack").lstat()
        if not (stat.S_ISREG(info.st_mode) and stat.S_ISREG(pack.st_mode)) or info.st_size > MAX_INDEX_BYTES:
            continue
        if _in_pack(index, commits):
            return True
    return False


def _in_pack(index: Path, commits: list[str]) -> bool:
    from dulwich.object_format import get_object_format  # noqa: PLC0415 - only an unknown project costs this
    from dulwich.pack import load_pack_index  # noqa: PLC0415

    for length, name in _HASHES.items():
        wanted = [commit for commit in commits if len(commit) == length]
        if not wanted:
            continue
        table = load_pack_index(str(index), get_object_format(name))
        try:
            with index.with_suffix(".pack").open("rb") as file:
                pack = _Pack(file, table, length // 2)
                if any(pack.holds(commit) for commit in wanted):
                    return True
        finally:
            table.close()
    return False


class _Pack:
    """Objects of an untrusted pack, each of them bounded in size and in the deltas it is made of.

    Hand-written because a pack reader that trusts its pack inflates whatever size that names.
    Format: https://git-scm.com/docs/pack-format
    """

    def __init__(self, file: BinaryIO, table: PackIndex, id_length: int) -> None:
        self._file = file
        self._table = table
        self._id_length = id_length

    def _offset_of(self, name: bytes) -> int:
        from dulwich.objects import RawObjectID  # noqa: PLC0415

        return self._table.object_offset(RawObjectID(name))

    def holds(self, commit: str) -> bool:
        """Whether the pack really has a commit."""
        try:
            offset = self._offset_of(bytes.fromhex(commit))
        except KeyError:
            return False
        kind, data = self._read(offset, MAX_DELTAS)
        return kind == _COMMIT and _is(b"commit", data, commit)

    def _read(self, offset: int, deltas: int) -> tuple[int, bytes]:
        """Type and content of the object at an offset; its type is 0 when it is too much of anything."""
        self._file.seek(offset)
        data = self._file.read(MAX_COMMIT_BYTES)
        kind, at = data[0] >> 4 & 7, 1
        while data[at - 1] & 0x80:
            at += 1
        if kind == _OFFSET_DELTA:
            back, at = _offset(data, at)
            base = offset - back
        elif kind == _REFERENCE_DELTA:
            base, at = self._offset_of(data[at : at + self._id_length]), at + self._id_length
        else:
            return kind, _inflate(data[at:])
        if not deltas or base <= 0:
            return 0, b""
        kind, source = self._read(base, deltas - 1)
        return kind, _patched(source, _inflate(data[at:]))


def _inflate(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, MAX_COMMIT_BYTES)


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """The distance to an offset delta's base, and where it ends: 7 bits a byte, each further byte adds one."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1) << 7 | data[at] & 0x7F
    return value, at + 1


def _patched(source: bytes, delta: bytes) -> bytes:
    """A delta applied; nothing when it would make more than a commit may be."""
    from dulwich.pack import apply_delta  # noqa: PLC0415

    at = 0
    sizes = []
    for _ in range(2):
        value = shift = 0
        while True:
            byte = delta[at]
            at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
            if not byte & 0x80:
                break
        sizes.append(value)
    if sizes[1] > MAX_COMMIT_BYTES:
        return b""
    return b"".join(apply_delta(source, delta))
