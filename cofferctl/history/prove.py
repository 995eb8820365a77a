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

MAX_COMMIT_BYTES = 1_000_000
MAX_PACKS = 200
MAX_INDEX_BYTES = 1 << 30
_COMMIT = 1
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
    from dulwich.objects import RawObjectID  # noqa: PLC0415
    from dulwich.pack import load_pack_index  # noqa: PLC0415

    for length, name in _HASHES.items():
        wanted = [commit for commit in commits if len(commit) == length]
        if not wanted:
            continue
        table = load_pack_index(str(index), get_object_format(name))
        try:
            for commit in wanted:
                try:
                    offset = table.object_offset(RawObjectID(bytes.fromhex(commit)))
                except KeyError:
                    continue
                if _at(index.with_suffix(".pack"), offset, commit):
                    return True
        finally:
            table.close()
    return False


def _at(pack: Path, offset: int, commit: str) -> bool:
    """Read one undeltified commit of a pack (git stores commits so, but for rare ones, which prove nothing here).

    Format: https://git-scm.com/docs/pack-format - type and size in 7-bit groups, then a zlib stream.
    """
    with pack.open("rb") as file:
        file.seek(offset)
        data = file.read(MAX_COMMIT_BYTES)
    kind, at, more = data[0] >> 4 & 7, 1, data[0] & 0x80
    while more:
        more = data[at] & 0x80
        at += 1
    if kind != _COMMIT:
        return False
    return _is(b"commit", zlib.decompressobj().decompress(data[at:], MAX_COMMIT_BYTES), commit)
