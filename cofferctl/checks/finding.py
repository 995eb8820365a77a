"""A finding, and the store that is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import TYPE_CHECKING, Literal

from cofferctl import worktree
from cofferctl.errors import CofferError

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer
    from cofferctl.snapshot import Snapshot
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree

Level = Literal["error", "warning", "note"]
NAMED = 5
"""Names that one finding about many files gives."""
FIX = "cofferctl doctor --fix"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a user may want to know.

    Attributes:
        kind: what it is, for programs.
        level: error: something does not work; warning: something is not as it should be; note: good to know.
        store: whose it is, None for the machine.
        path: the file, relative to the store's directory, or absolute outside of stores; None when it is many.
        message: one sentence, never a text of a fact.
        fix: the command that mends it, or what to do; None when there is nothing to do.
        fixed: whether it has just been mended.
    """

    kind: str
    level: Level
    store: str | None
    path: str | None
    message: str
    fix: str | None
    fixed: bool = False


class Patient:
    """A store under examination: what several checks look at is looked up once."""

    def __init__(self, coffer: Coffer, store: Store) -> None:
        self.coffer = coffer
        self.store = store

    @cached_property
    def pending(self) -> Snapshot:
        """What was done outside since HEAD."""
        return self.store.pending()

    @cached_property
    def work(self) -> Worktree:
        """The lanes; of a repository that cannot be read, too."""
        try:
            return self.pending.work
        except (CofferError, OSError, ValueError, KeyError):
            return worktree.scan(self.store.directory, self.store.private / "stat", save=False)

    def finding(
        self, kind: str, level: Level, message: str, path: str | None = None, fix: str | None = None
    ) -> Finding:
        """A finding about this store."""
        return Finding(kind, level, self.store.name, path, message, fix)

    def command(self, verb: str, path: str) -> str:
        """What to type to do something to one of its files, wherever one stands."""
        return f"cofferctl {verb} {quote(path)} --store {self.store.name}"

    def git(self, rest: str) -> str:
        """What to type to run git in the store."""
        return f"git -C {quote(str(self.store.directory))} {rest}"


def some(names: list[str]) -> str:
    """A few of many names, for a sentence."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
