"""Which path of a store is which lane, what is searched, what is derived; file names for new facts."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal, get_args

from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Collection

Lane = Literal["inbox", "topics", "rules", "journal", "handoff", "superseded"]
LANES: tuple[Lane, ...] = get_args(Lane)
SEARCHED: frozenset[str] = frozenset({"inbox", "topics", "journal"})
KNOWLEDGE: frozenset[str] = frozenset({"inbox", "topics"})
ROOTS = ("knowledge", "rules", "journal", "handoff", "superseded")
"""The directories of a store that hold lanes."""
INBOX = "knowledge/inbox"
STORE_FILES = ("store.toml", ".gitattributes", ".gitignore")
"""Tracked files of a store beside the lanes."""
INBOX_LIMIT = 1_000
"""Entries of one directory; a flat directory of n files costs O(n) for every commit."""
SLUG_LENGTH = 60

_DERIVED = frozenset({"knowledge/index.md", "consolidation-log.md"})
_RESERVED = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        "index",
        "git",
        *(f"{name}{digit}" for name in ("com", "lpt") for digit in range(1, 10)),
    ]
)


class PathRefused(CofferError):
    """A path that was given does not lie in a lane."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, path: str) -> None:
        super().__init__(
            f"not a path of a lane: {path!r}",
            hint="name a fact by its id, or by a path like knowledge/inbox/some-fact.md",
            details={"reason": "path"},
        )


def fold(name: str) -> str:
    """The form under which two names are one on a case-blind or normalising disk."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def is_fact_name(name: str) -> bool:
    """Whether a file name can be a lane file: Markdown, not hidden, not an editor's backup or lock."""
    return name.endswith(".md") and name[0] not in ".#"


def lane_of(path: str) -> Lane | None:
    """The lane of a path relative to the store, None for what is no lane file (derived pages are none)."""
    root, _, rest = path.partition("/")
    name = path.rpartition("/")[2]
    if root not in ROOTS or not rest or not is_fact_name(name) or path.lower() in _DERIVED:
        return None
    if root != "knowledge":
        return root  # type: ignore[return-value]  # the other roots are named like their lanes
    return "inbox" if rest.startswith("inbox/") else "topics"


def expand(lane: str) -> frozenset[str]:
    """The lanes that a lane's name on the command line stands for; `knowledge` is inbox and topics, `all` is all."""
    if lane == "knowledge":
        return KNOWLEDGE
    return frozenset(LANES) if lane == "all" else frozenset({lane})


def checked_path(given: str) -> str:
    """A lane path somebody typed, in its canonical form.

    Raises:
        PathRefused: absolute, leading out, hidden, or in no lane.
    """
    path = given.replace("\\", "/").removeprefix("./")
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.startswith(".") or "\0" in part or ":" in part for part in parts):
        raise PathRefused(given)
    if lane_of(path) is None:
        raise PathRefused(given)
    return path


def slug(title: str) -> str:
    """A file name's stem for a title: ASCII, at most 60 characters, never empty, no name reserved by a system."""
    if not title.isascii():
        from slugify import slugify  # 11 ms: only for titles it has work to do on  # noqa: PLC0415

        title = slugify(title, lowercase=True, max_length=4 * SLUG_LENGTH)
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    if len(words) > SLUG_LENGTH:
        cut = words[: SLUG_LENGTH + 1].rpartition("-")[0]
        words = cut if len(cut) > SLUG_LENGTH // 2 else words[:SLUG_LENGTH]
    words = words.strip("-")
    if not words:
        return "fact"
    return f"{words}-fact" if words in _RESERVED else words


def free_name(stem: str, identifier: str, taken: Collection[str]) -> str:
    """A file name no other one is equal to, also on a case-blind disk.

    Args:
        stem: the slug.
        identifier: the fact's id, whose random tail tells it from a namesake.
        taken: names in the directory, folded by `fold`.
    """
    if f"{stem}.md" not in taken:
        return f"{stem}.md"
    tail = identifier.lower()
    return next(f"{stem}-{tail[-n:]}.md" for n in (4, 8, 26) if n == len(tail) or f"{stem}-{tail[-n:]}.md" not in taken)
