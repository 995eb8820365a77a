"""The search index: whether it is there, up to date, and says what the files say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cofferctl import searching
from cofferctl.checks.finding import FIX, Finding, Patient, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LIES = "index_wrong"


def index(patient: Patient) -> Iterator[Finding]:
    """The index against what a rebuild would hold, passage by passage."""
    coffer, store, work = patient.coffer, patient.store, patient.work
    if not coffer.index_directory(store).is_dir():  # opening it would make it
        yield patient.finding("index_missing", "note", "there is no search index; the next recall builds it", fix=FIX)
        return
    found = coffer.index(store)
    status = found.status(work.fingerprint)
    if status != "current":
        message = f"the search index is {status}; the next recall brings it up to date"
        yield patient.finding(f"index_{status}", "note", message, fix=FIX)
    else:
        wrong = found.audit(work.blobs(), coffer.loader(store))
        if wrong is None:
            yield patient.finding(LIES, "error", "the search index cannot be read", fix=FIX)
        elif wrong:
            message = f"the search index is not what the files say: {some(wrong)}"
            yield patient.finding(LIES, "error", message, fix=FIX)


def rebuild(patient: Patient, findings: Sequence[Finding], *, yes: bool) -> None:  # noqa: ARG001
    """Build the index, from nothing when it was wrong."""
    full = any(found.kind == LIES for found in findings)
    work = patient.store.scan()
    searching.refresh(patient.coffer, patient.store, patient.coffer.index(patient.store), work, full=full)


STORE = (index,)
STORE_FIXES = {"index_missing": rebuild, "index_behind": rebuild, LIES: rebuild}
