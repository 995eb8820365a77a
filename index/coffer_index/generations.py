"""The index on disk: numbered generations side by side, built under a temporary name and put in place by rename."""

# pathlib would cost every cold process some milliseconds:
from __future__ import annotations

import os
import re

from coffer_index.keyword import ANALYZER_VERSION, NAME

_GENERATION = re.compile(r"g(\d{6,})")
_VERSION = re.compile(r"kw(\d+)-[0-9a-f]{8}")
_WASTE = 1000  # deleted passages that are never worth a rebuild


class Generations:
    """The generations of this version of the index, under `<directory>/kw<version>-<hash>/`.

    The highest number counts. A rebuild keeps the one before it for readers that just opened that, and drops older
    ones. Everything that changes a directory is called under the lock, except `drop`.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._home = os.path.join(root, NAME)
        self.lock = os.path.join(self._home, "lock")

    @classmethod
    def open(cls, root: str) -> Generations | None:
        """The generations under `root`, both made if missing and for this user only; None if that is not possible."""
        found = cls(root)
        try:
            os.makedirs(root, mode=0o700, exist_ok=True)
            os.makedirs(found._home, mode=0o700, exist_ok=True)
            # The one honest question is whether the lock can be opened for writing: root may write read-only modes.
            os.close(os.open(found.lock, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError:
            return None
        return found if os.access(found._home, os.W_OK | os.X_OK) else None

    def latest(self) -> str:
        """The name of the generation that counts, '' if there is none."""
        return max(self._names(), key=_number, default="")

    def path(self, name: str) -> str:
        """Where a generation is kept."""
        return os.path.join(self._home, name)

    def begin(self) -> str:
        """A new empty directory to build in; what earlier builds left behind when they were killed goes away."""
        for name in _listed(self._home):
            if name.startswith("tmp-"):
                _remove(self.path(name))
        fresh = self.path(f"tmp-{os.getpid()}-{os.urandom(4).hex()}")
        os.mkdir(fresh, 0o700)
        return fresh

    def publish(self, fresh: str) -> str:
        """Make a finished build the generation that counts; returns its name."""
        before = self.latest()
        name = f"g{_number(before) + 1:06d}"
        seal(fresh)
        os.rename(fresh, self.path(name))
        for old in self._names():
            if old not in (before, name):
                _remove(self.path(old))
        self._forget_older_versions()
        return name

    def abandon(self, fresh: str) -> None:
        """Take an unfinished build away."""
        _remove(fresh)

    def drop(self, name: str) -> None:
        """Take a generation away: out of sight at once, then off the disk; no error if it is gone already."""
        hidden = self.path(f"tmp-{os.getpid()}-{os.urandom(4).hex()}")
        try:
            os.rename(self.path(name), hidden)
        except OSError:
            return
        _remove(hidden)

    def wasteful(self, name: str) -> bool:
        """Whether most of a generation is deleted passages; tantivy itself never clears them away."""
        import json  # noqa: PLC0415 - only on the way to a write

        with open(os.path.join(self.path(name), "meta.json"), "rb") as file:
            segments = json.load(file)["segments"]
        deleted = sum((segment["deletes"] or {}).get("num_deleted_docs", 0) for segment in segments)
        return bool(deleted > _WASTE and 2 * deleted > sum(segment["max_doc"] for segment in segments))

    def _names(self) -> list[str]:
        return [name for name in _listed(self._home) if _GENERATION.fullmatch(name)]

    def _forget_older_versions(self) -> None:
        for name in _listed(self._root):
            version = _VERSION.fullmatch(name)
            # Newer ones belong to a newer program, which may be in use as well.
            if version and int(version[1]) < ANALYZER_VERSION:
                _remove(os.path.join(self._root, name))


def seal(directory: str) -> None:
    """Make the files of a generation readable for this user only, whatever the umask was when they were made."""
    with os.scandir(directory) as found:
        for entry in found:
            try:
                if entry.stat().st_mode & 0o077:
                    os.chmod(entry.path, 0o600)
            except FileNotFoundError:  # a merge has just dropped it
                continue


def _number(name: str) -> int:
    return int(name[1:]) if name else 0


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except FileNotFoundError:
        return []


def _remove(directory: str) -> None:
    import shutil  # noqa: PLC0415 - only on the way to a write

    # A reader may hold files open (on Windows) or put its lock file back: what stays is removed another time.
    shutil.rmtree(directory, ignore_errors=True)
