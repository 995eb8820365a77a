"""Files in the lanes that are no facts, or not told apart: links, pipes, giants, namesakes."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from shlex import quote
from typing import TYPE_CHECKING

from cofferctl import lanes
from cofferctl.checks.finding import Finding, Patient, some

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECOVERED = "recovered-"
_REMEDIES = {
    "over 1 MB": ("too_large", "split the file, or move it out of the store"),
    "binary": ("binary", "move the file out of the store"),
    "a directory": ("directory", "give the directory a name that does not end in .md"),
}


def odd_files(patient: Patient) -> Iterator[Finding]:
    """What the scan leaves alone."""
    for path, why in sorted(patient.work.odd.items()):
        kind, fix = _REMEDIES.get(why) or _special(patient, path)
        message = f"{path} is left alone: never read, searched or committed ({_said(kind, why)})"
        yield patient.finding(kind, "warning", message, path, fix)
    for directory in patient.work.unreadable:
        message = f"{directory} cannot be listed; its facts are not found"
        yield patient.finding(
            "unreadable", "warning", message, directory, f"chmod u+rx {quote(str(patient.store.directory / directory))}"
        )


def linked_directories(patient: Patient) -> Iterator[Finding]:
    """Directories in a lane, or a lane itself, that lead elsewhere."""
    root = patient.store.directory
    for lane in lanes.ROOTS:
        if (root / lane).is_symlink():
            yield _link(patient, lane)
        for folder, below, _ in os.walk(root / lane):
            for name in below:
                place = os.path.join(folder, name)
                if os.path.islink(place):
                    yield _link(patient, os.path.relpath(place, root).replace(os.sep, "/"))


def namesakes(patient: Patient) -> Iterator[Finding]:
    """Names that a case-blind or normalising disk cannot tell apart."""
    same: defaultdict[str, list[str]] = defaultdict(list)
    for path in patient.work.entries:
        same[lanes.fold(path)].append(path)
    for paths in same.values():
        if len(paths) > 1:
            first, *others = sorted(paths)
            message = f"{first} and {some(others)} are one name on disks that ignore case or accents' forms"
            yield patient.finding("same_name", "warning", message, first, "rename all but one of them")


def same_ids(patient: Patient) -> Iterator[Finding]:
    """Several files that say they are one fact."""
    same: defaultdict[bytes, list[str]] = defaultdict(list)
    for path, entry in patient.work.entries.items():
        same[entry.id].append(path)
    for identifier, paths in same.items():
        if len(paths) > 1:
            first, *others = sorted(paths)
            message = f"{first} and {some(others)} have one id ({identifier.decode()}), so it names none of them"
            yield patient.finding("same_id", "warning", message, first, "take the id line out of the copy")


def recovered(patient: Patient) -> Iterator[Finding]:
    """Texts that were saved in the very moment of a write that died."""
    for path in sorted(patient.work.entries):
        if path.startswith(f"{lanes.INBOX}/{_RECOVERED}"):
            message = f"{path} holds a text that was saved while a write died; read it, then keep it or forget it"
            yield patient.finding("recovered", "note", message, path, patient.command("show", path))


STORE = (odd_files, linked_directories, namesakes, same_ids, recovered)


def _special(patient: Patient, path: str) -> tuple[str, str]:
    try:
        mode = (patient.store.directory / path).lstat().st_mode
    except OSError:
        return "unreadable", "look at its permissions"
    if stat.S_ISREG(mode):
        return "unreadable", f"chmod u+r {quote(str(patient.store.directory / path))}"
    return ("link", "put the file itself there") if stat.S_ISLNK(mode) else ("special", "move it out of the store")


def _said(kind: str, why: str) -> str:
    return {"link": "a link", "special": "a pipe or device"}.get(kind, why)


def _link(patient: Patient, path: str) -> Finding:
    message = f"{path} is a link; what it leads to is not part of the store"
    return patient.finding("link", "warning", message, path, "put the directory itself there")
