"""What was done to a store from outside, and by a writer that died."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from cofferctl import lanes
from cofferctl.checks.finding import FIX, Finding, Patient, some
from cofferctl.history.message import Record
from cofferctl.intent import Log
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cofferctl.intent import Intent
    from cofferctl.worktree import Worktree

YOUNG_SECONDS = 60.0
"""A write under way is not older than this."""


def dead_writer(patient: Patient) -> Iterator[Finding]:
    """The intent log of a write that never ended."""
    log = Log(patient.store.git_dir)
    intent = log.read()
    if intent is None or _at_work(log, intent):
        return
    yield patient.finding(
        "dead_writer",
        "warning",
        f"a write of process {intent.pid} did not end; the next write repairs what it left",
        ".git/coffer/intent.abandoned" if intent.abandoned else ".git/coffer/intent",
        FIX,
    )


def outside_edits(patient: Patient) -> Iterator[Finding]:
    """Edits that are in no commit yet."""
    found = patient.pending
    changed, gone = sorted(found.contents), sorted(found.deleted)
    if changed or gone:
        parts = [f"{len(changed):,} edited ({some(changed)})"] if changed else []
        parts += [f"{len(gone):,} deleted ({some(gone)})"] if gone else []
        message = f"files not committed yet: {', '.join(parts)}; the next write commits them"
        only = [*changed, *gone]
        yield patient.finding("outside_edits", "note", message, only[0] if len(only) == 1 else None, FIX)


def withheld_deletions(patient: Patient) -> Iterator[Finding]:
    """So many files gone at once that it may be an accident."""
    gone = sorted(patient.pending.withheld)
    if gone:
        yield patient.finding(
            "withheld_deletions",
            "warning",
            f"{len(gone):,} files are gone and not committed as deleted, in case that was not meant: {some(gone)}; "
            f"`{patient.git('checkout -- .')}` brings them back",
            fix=f"{FIX} --yes",
        )


def unfinished(patient: Patient) -> Iterator[Finding]:
    """A merge or the like that somebody began in the store."""
    what = patient.pending.unfinished
    if what:
        message = f"the store is in the middle of {what}: nothing is committed until that ends"
        yield patient.finding("unfinished", "warning", message, fix=patient.git("status"))


def repair(patient: Patient, findings: Sequence[Finding], *, yes: bool) -> None:  # noqa: ARG001
    """Let a write that writes nothing do what every write does first: repair what a dead one left."""
    _write(patient, outside=False)


def commit(patient: Patient, findings: Sequence[Finding], *, yes: bool) -> None:  # noqa: ARG001
    """Commit outside edits."""
    _write(patient, outside=True)


def commit_deletions(patient: Patient, findings: Sequence[Finding], *, yes: bool) -> None:  # noqa: ARG001
    """Commit the deletion of files that are gone, when a person said that it is meant."""
    if yes:
        _write(patient, outside=True, deleted=patient.pending.withheld)


STORE = (dead_writer, outside_edits, withheld_deletions, unfinished)
STORE_FIXES = {"dead_writer": repair, "outside_edits": commit, "withheld_deletions": commit_deletions}


def _write(patient: Patient, *, outside: bool, deleted: Sequence[str] = ()) -> None:
    store, coffer = patient.store, patient.coffer

    def plan(work: Worktree) -> Change[None]:
        gone = [
            path
            for path in deleted
            if lanes.lane_of(path) and path not in work.entries and work.in_tree(path) is not None
        ]
        gone = [path for path in gone if not os.path.lexists(store.directory / path)]
        record = Record(f"outside deletion of {len(gone)} files", "outside_edit", "outside", operation=coffer.new_id())
        return Change(dict.fromkeys(gone), record, None, outside=outside)

    store.write(plan, coffer.author(coffer.who()))


def _at_work(log: Log, intent: Intent) -> bool:
    """Whether the writer may still be alive: a young log of a process that is there."""
    if intent.abandoned:
        return False
    try:
        young = time.time() - (log.private / "intent").stat().st_mtime < YOUNG_SECONDS
    except OSError:
        return True  # it has ended meanwhile
    return young and (os.name != "posix" or _is_running(intent.pid))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError, ValueError):
        return False
    return pid > 0
