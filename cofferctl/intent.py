"""The intent log of a store: what the write under way is about to do, so that its death at any instant can be repaired.

`.git/coffer/intent` is written before the first change and removed after the last. Everything a write will publish is
already in the object store when the log names its commit, so finishing or dropping a dead writer's work needs no more
than comparing HEAD with two commit ids.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from cofferctl import files
from cofferctl.history import gitindex

if TYPE_CHECKING:
    from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40}")
YOUNG_SECONDS = 0.5
"""A ref lock younger than this may belong to a living git: it is looked at again before it is removed."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One write under way.

    Attributes:
        pid: the writer.
        lock: (device, inode) of the index.lock it takes.
        parent: HEAD's commit when it began, hex; "" for an unborn branch.
        base: the commit the command's own change stands on: `parent`, or the snapshot of outside edits before it.
        commit: the commit HEAD is to become, "" until it is in the object store.
        abandoned: the writer has given up: nothing is to be completed, only the git index to be set right.
    """

    pid: int
    lock: tuple[int, int]
    parent: str = ""
    base: str = ""
    commit: str = ""
    abandoned: bool = False


class Log:
    """The intent log of one store, and the scratch directory that belongs to it."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self.private = git_dir / "coffer"
        self.scratch = self.private / "tmp"
        self._path = self.private / "intent"
        self._abandoned = self.private / "intent.abandoned"

    def read(self) -> Intent | None:
        """What a dead writer left, None when the last write ended properly."""
        abandoned = files.read_regular(self._abandoned)
        data = files.read_regular(self._path) if abandoned is None else abandoned
        if data is None:
            return None
        try:
            raw = json.loads(data)
            device, inode = raw["lock"]
            parent, base, commit = (_id(raw[key]) for key in ("parent", "base", "commit"))
            return Intent(int(raw["pid"]), (device, inode), parent, base, commit, abandoned is not None)
        except (ValueError, TypeError, KeyError):
            return Intent(0, (0, 0))

    def write(self, intent: Intent) -> None:
        """Record an intent durably."""
        path = self._abandoned if intent.abandoned else self._path
        files.write_atomic(path, json.dumps(asdict(intent)).encode(), temp_dir=self.scratch)

    def abandon(self) -> None:
        """Mark the intent as given up; a rename, which a full disk does not stop."""
        with contextlib.suppress(FileNotFoundError):
            os.replace(self._path, self._abandoned)

    def take_index_lock(self, intent: Intent, *, wait: float) -> Intent | None:
        """Take git's index.lock, logged before it is taken; the intent as logged, None when a foreign lock stays."""
        files.make_private_dirs(self.scratch)
        temp, identity = gitindex.prepare_lock(self.scratch)
        intent = replace(intent, pid=os.getpid(), lock=identity)
        self.write(intent)
        return intent if gitindex.take_lock(self.git_dir, temp, wait=wait) else None

    def drop(self) -> None:
        """End the write: nothing is left to repair."""
        for path in (self._path, self._abandoned):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def leftovers(self) -> list[str]:
        """Files of dead processes in the scratch directory; under the store's lock nobody else's are there.

        But for the stat cache of a reader at work, which does without it then.
        """
        try:
            return os.listdir(self.scratch)
        except OSError:
            return []

    def clean(self) -> None:
        """Empty the scratch directory."""
        for leftover in self.leftovers():
            with contextlib.suppress(OSError):
                (self.scratch / leftover).unlink()


def _id(value: object) -> str:
    """A commit id in hex, or "" for none."""
    if value != "" and (not isinstance(value, str) or not _COMMIT.fullmatch(value)):
        raise ValueError(value)
    return str(value)


def lock_files(git_dir: Path) -> list[Path]:
    """Lock files of refs and objects that there are or may be."""
    found = [git_dir / "HEAD.lock", git_dir / "packed-refs.lock", *git_dir.glob("refs/heads/**/*.lock")]
    return [*found, *git_dir.glob("objects/??/*.lock"), *git_dir.glob("objects/pack/*.lock")]


def remove_dead_locks(git_dir: Path, intent: Intent) -> None:
    """Remove the lock files a dead writer left: its own index.lock, and locks of refs and objects.

    A left-over object lock makes dulwich refuse that very object for ever, and no git removes it. A writer that gave up
    has released all but the first itself; locks found after one are those of a living git.
    """
    gitindex.release_lock(git_dir, intent.lock)
    if intent.abandoned:
        return
    for lock in lock_files(git_dir):
        with contextlib.suppress(OSError):
            info = lock.lstat()
            age = time.time() - info.st_mtime
            if 0 <= age < YOUNG_SECONDS:
                time.sleep(YOUNG_SECONDS - age)
            if lock.lstat().st_ino == info.st_ino:
                lock.unlink()
