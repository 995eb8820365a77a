"""Putting a change's files into the work tree so that every step can be taken back until it is kept."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING, Self

from cofferctl import fact, files, worktree
from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from cofferctl.worktree import Entry

SYNC_EACH_UP_TO = 200
"""From this many files on, the whole file system is synced once instead of every file."""

REPORT_EVERY = 200


class Raced(Exception):
    """Somebody else wrote the same file between our look and our rename; their text stands."""


class LinkInStore(CofferError):
    """A directory of the store is a link: writing through it would leave the store."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is not a directory of the store but a link or a file",
            hint="replace it by a real directory",
            details={"reason": "path"},
        )


class Placing:
    """Files put in place; on leaving the context without `keep`, everything is put back as it was."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        self._scratch = scratch
        self._undo: list[Callable[[], None]] = []
        self._old: list[Path] = []
        self._kept = False
        self._bulk = False
        self._directories: set[Path] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._kept:
            for undo in reversed(self._undo):
                with contextlib.suppress(OSError):
                    undo()
        for old in self._old:
            with contextlib.suppress(OSError):
                old.unlink()

    def keep(self) -> None:
        """The change is committed: nothing is to be taken back."""
        self._kept = True

    def place(
        self,
        contents: Mapping[str, bytes | None],
        known: Mapping[str, Entry],
        report: Callable[[int, int], None] | None = None,
    ) -> None:
        """Write and delete files, durably.

        Args:
            contents: path -> content, None to delete.
            known: the entries of files that are there, as they were when the change was planned.
            report: told how many files are done, and of how many.

        Raises:
            Raced: a file is not what `known` says.
            LinkInStore: a directory on the way is none.
        """
        files.make_private_dirs(self._scratch)
        self._bulk = len(contents) > SYNC_EACH_UP_TO and hasattr(os, "sync")
        for number, (path, data) in enumerate(contents.items()):
            if report and number % REPORT_EVERY == 0:
                report(number, len(contents))
            self._enter(path)
            entry = known.get(path)
            if data is None:
                self._delete(number, path, entry)
            elif entry is None and not os.path.lexists(self._root / path):
                self._create(number, path, data)
            else:
                self._replace(number, path, data, entry)
        if report:
            report(len(contents), len(contents))
        if self._bulk and sys.platform != "win32":
            os.sync()
            return
        for directory in self._directories:
            files.fsync_dir(directory)

    def _enter(self, path: str) -> None:
        """Make sure that a file's directory is there and is a real one, all the way down from the store."""
        directory = self._root
        for part in path.split("/")[:-1]:
            parent, directory = directory, directory / part
            with contextlib.suppress(FileExistsError):
                directory.mkdir(mode=0o700)
                self._directories.add(parent)
            if not stat.S_ISDIR(directory.lstat().st_mode):
                raise LinkInStore(directory)
        self._directories.add(directory)

    def _temp(self, number: int, data: bytes) -> Path:
        temp = self._scratch / f"new-{os.getpid()}-{number}"
        with contextlib.suppress(FileNotFoundError):
            temp.unlink()
        files.write_new(temp, data, sync=not self._bulk)
        return temp

    def _create(self, number: int, path: str, data: bytes) -> None:
        target = self._root / path
        try:
            files.move_new(self._temp(number, data), target)
        except FileExistsError:
            raise Raced from None
        self._undo.append(lambda: _remove_own(target, data))

    def _replace(self, number: int, path: str, data: bytes, entry: Entry | None) -> None:
        """Rename over the old file, then look once more at the old one: a person may have saved it meanwhile."""
        target = self._root / path
        new = self._temp(number, data)  # made first: a person who saves by rename between link and rename is not seen
        old = self._keep_old(number, target)
        os.replace(new, target)
        self._undo.append(lambda: os.replace(old, target))
        if entry is None or _blob(old) != entry.blob:
            raise Raced

    def _keep_old(self, number: int, target: Path) -> Path:
        if not stat.S_ISREG(target.lstat().st_mode):
            raise LinkInStore(target)
        old = self._scratch / f"old-{os.getpid()}-{number}"
        with contextlib.suppress(FileNotFoundError):
            old.unlink()
        self._old.append(old)
        try:
            os.link(target, old)
        except OSError:  # a file system without hard links
            files.write_new(old, files.read_regular(target) or b"")
        return old

    def _delete(self, number: int, path: str, entry: Entry | None) -> None:
        target = self._root / path
        old = self._scratch / f"old-{os.getpid()}-{number}"
        try:
            os.replace(target, old)
        except FileNotFoundError:
            return
        self._undo.append(lambda: files.move_new(old, target))
        if entry is None or _blob(old) != entry.blob:
            raise Raced
        self._old.append(old)


def _blob(path: Path) -> bytes:
    data = files.read_regular(path)
    return worktree.blob_id(fact.normalize(data)) if data is not None else b""


def _remove_own(target: Path, data: bytes) -> None:
    if files.read_regular(target) == data:
        target.unlink()
