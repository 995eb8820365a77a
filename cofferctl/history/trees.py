"""Trees read as bytes, without the library's objects: long histories are compared tree by tree.

A tree is a run of mode, blank, name, NUL and 20 bytes of id:
https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from dulwich.objects import ObjectID, RawObjectID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dulwich.object_store import BaseObjectStore

Change = tuple[str, bytes | None, bytes | None]
"""A path, and its blob ids in hex before and after, None for not there."""

_TREE = 2
_DIRECTORY = b"40000"
_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_BESIDE = len(b" \0") + 20
_HEX_LENGTH = 40
_KEPT_MOST = 200


class Trees:
    """The trees of one object store; the last ones read are remembered: a commit's tree is its child's base."""

    def __init__(self, objects: BaseObjectStore) -> None:
        self._objects = objects
        self._kept: dict[bytes, dict[bytes, tuple[bytes, bytes]]] = {}

    def changes(self, old: bytes | None, new: bytes | None, prefix: str = "") -> Iterator[Change]:
        """How two trees differ, level by level, so that what they have in common is not read.

        Raises:
            KeyError: a tree is not there.
            ValueError: it is damaged.
        """
        before, after = self._entries(old), self._entries(new)
        for name in {name for name, _ in before.items() ^ after.items()}:
            sides = (before.get(name), after.get(name))
            path = prefix + os.fsdecode(name)
            was, now = (side[1].hex().encode() if side and side[0] == _DIRECTORY else None for side in sides)
            if was or now:
                yield from self.changes(was, now, f"{path}/")
            was, now = (side[1].hex().encode() if side and side[0] != _DIRECTORY else None for side in sides)
            if was or now:
                yield path, was, now

    def child(self, tree: bytes, name: bytes) -> bytes | None:
        """The raw id under a name of one tree, hex or raw itself; None when there is none."""
        kind, raw = self._objects.get_raw(ObjectID(tree) if len(tree) == _HEX_LENGTH else RawObjectID(tree))
        at = raw.find(b" " + name + b"\0") if kind == _TREE else -1
        start = at + len(name) + 2
        return raw[start : start + 20] if at >= 0 else None

    def _entries(self, tree: bytes | None) -> dict[bytes, tuple[bytes, bytes]]:
        """Name -> (mode, raw id)."""
        if tree is None:
            return {}
        if tree not in self._kept:
            if len(self._kept) >= _KEPT_MOST:
                self._kept.clear()
            kind, raw = self._objects.get_raw(ObjectID(tree))
            found = _ENTRY.findall(raw)
            if kind != _TREE or sum(len(mode) + len(name) + _BESIDE for mode, name, _ in found) != len(raw):
                raise ValueError(tree.decode())
            self._kept[tree] = {name: (mode, blob) for mode, name, blob in found}
        return self._kept[tree]
