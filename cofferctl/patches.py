"""Differences of files as git prints them; secrets are masked before anything is compared."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import fact, lanes, secrets, worktree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cofferctl.history.log import Delta, Entry, History

SHOWN = "store.toml"
"""The one file beside the lanes whose differences are shown."""
_NO_NEWLINE = "\\ No newline at end of file"
_ID_LENGTH = 10


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's difference; `status` is added, deleted or changed, `id` None for what is no fact."""

    path: str
    id: str | None
    status: str
    diff: str


def shown(path: str) -> bool:
    """Whether a file's differences are shown: lanes and store.toml."""
    return lanes.lane_of(path) is not None or path == SHOWN


def lines(text: str) -> list[str]:
    """The lines of a text, each secret replaced on the lines it stands on, so that their number stays.

    A last element "" says that the text ends with a newline.
    """
    parts: list[str] = []
    done = 0
    for secret in secrets.find(text):
        breaks = "\n" * text.count("\n", secret.start, secret.end)
        parts += text[done : secret.start], f"[masked: {secret.kind}]", breaks
        done = secret.end
    return "".join([*parts, text[done:]]).split("\n")


def of(before: tuple[str, bytes] | None, after: tuple[str, bytes] | None) -> FileDiff:
    """The difference of two states of a file, each (path, bytes) or None where it is not there; one of them is."""
    path, data = after or before or ("", b"")
    status = "added" if before is None else "deleted" if after is None else "changed"
    identifier = fact.parse(path, data).id if lanes.lane_of(path) else None
    return FileDiff(secrets.mask(path), identifier, status, "\n".join(_patch(before, after)) + "\n")


def of_commit(history: History, entry: Entry, only: frozenset[str] | None = None) -> str:
    """What a commit did to the lanes, as one patch.

    Args:
        history: where it is.
        entry: the commit.
        only: the paths wanted, None for all.
    """
    wanted = (delta for delta in entry.deltas if shown(delta.path) and (only is None or delta.path in only))
    return "".join(of_delta(history, delta).diff for delta in wanted)


def of_delta(history: History, delta: Delta) -> FileDiff:
    """What a commit did to one path."""
    before, after = (
        (delta.path, history.blob(blob)) if blob is not None else None for blob in (delta.before, delta.after)
    )
    return of(before, after)


def _patch(before: tuple[str, bytes] | None, after: tuple[str, bytes] | None) -> Iterator[str]:
    old, new = (secrets.mask((one or other or ("", b""))[0]) for one, other in ((before, after), (after, before)))
    yield f"diff --git a/{old} b/{new}"
    if before is None:
        yield "new file mode 100644"
    if after is None:
        yield "deleted file mode 100644"
    names = [_blob(side) for side in (before, after)]
    mode = " 100644" if before and after else ""
    if old != new:
        yield f"rename from {old}"
        yield f"rename to {new}"
    yield f"index {names[0]}..{names[1]}{mode}"
    texts = [lines(fact.decode(side[1])) if side else [""] for side in (before, after)]
    if texts[0] != texts[1]:
        yield from _hunks(texts, f"a/{old}" if before else "/dev/null", f"b/{new}" if after else "/dev/null")
    elif names[0] != names[1] and (before or ("", b""))[1] + (after or ("", b""))[1]:
        yield "(they differ in masked text or in line ends only)"


def _hunks(texts: list[list[str]], old: str, new: str) -> Iterator[str]:
    """Unified hunks, where a last line without a newline is told as git tells it."""
    for line in difflib.unified_diff(_ended(texts[0]), _ended(texts[1]), old, new, lineterm=""):
        yield from line.split("\n")


def _ended(text: list[str]) -> list[str]:
    return text[:-1] if not text[-1] else [*text[:-1], f"{text[-1]}\n{_NO_NEWLINE}"]


def _blob(side: tuple[str, bytes] | None) -> str:
    return worktree.blob_id(side[1]).hex()[:_ID_LENGTH] if side else "0" * _ID_LENGTH
