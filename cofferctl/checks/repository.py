"""The git side of a store: locks left over, objects that are broken."""

from __future__ import annotations

import time
from shlex import quote
from typing import TYPE_CHECKING

from cofferctl.checks.edits import YOUNG_SECONDS
from cofferctl.checks.finding import FIX, Finding, Patient, some
from cofferctl.history import programs
from cofferctl.intent import Log, lock_files

if TYPE_CHECKING:
    from collections.abc import Iterator


def locks(patient: Patient) -> Iterator[Finding]:
    """Lock files of git that somebody holds, or that a dead process left."""
    git_dir = patient.store.git_dir
    recoverable = Log(git_dir).read() is not None
    for lock in (git_dir / "index.lock", *lock_files(git_dir)):
        try:
            age = time.time() - lock.lstat().st_mtime
        except OSError:
            continue
        path = lock.relative_to(patient.store.directory).as_posix()
        held = f"{path} is held since {_age(age)}, by whom is unknown"
        if age < YOUNG_SECONDS:
            yield patient.finding("lock", "note", f"{held}: git may be at work in the store", path)
        elif recoverable:
            yield patient.finding("lock", "warning", f"{held}; a write that died may have left it", path, FIX)
        else:
            message = f"{held}: while it is there, nothing but new facts can be written, and those are not committed"
            yield patient.finding("lock", "error", message, path, f"if no git runs there: rm {quote(str(lock))}")


def objects(patient: Patient) -> Iterator[Finding]:
    """What git finds wrong with its own objects."""
    wrong = programs.fsck(patient.store.directory)
    if wrong:
        message = f"git fsck finds the history damaged: {some(wrong)}"
        yield patient.finding("fsck", "error", message, fix=patient.git("fsck"))


STORE = (locks, objects)


def _age(seconds: float) -> str:
    if seconds < YOUNG_SECONDS:
        return f"{max(0.0, seconds):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"  # noqa: PLR2004
