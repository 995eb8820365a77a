"""From a working directory to the store of its project, by rules that no file in the project can bend."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cofferctl import bindings, gitdir
from cofferctl.bindings import Binding, normalize_remote
from cofferctl.errors import CofferError, ExitCode

__all__ = ["Claim", "NotAStoreId", "Resolution", "Resolver", "ScopeUnresolved", "normalize_remote"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Rows = tuple[Binding, ...]

MAX_ROOTS_AT_ONE_PLACE = 4
"""Git directories that came and went at one path for one store, as clones thrown away do; the newest are kept."""

READ_PATIENCE = 0.2
"""Seconds a read waits to write down what it found out; the next read finds it out again."""


class ScopeUnresolved(CofferError):
    """The project store was asked for where there is no project."""

    code = "SCOPE_UNRESOLVED"
    exit_code = ExitCode.REJECTED

    def __init__(self, cwd: Path) -> None:
        super().__init__(
            f"{cwd} is in no git repository, so there is no project here",
            hint="use --scope global, or stand in a repository (-C DIR)",
            details={"cwd": str(cwd)},
        )


class NotAStoreId(CofferError):
    """A directory was to be linked to something that cannot be a store."""

    code = "MEMORY_STORE_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, store: str) -> None:
        super().__init__(
            f"{store!r} is not the id of a store", hint="`cofferctl stores list` shows them", details={"store": store}
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """What a directory says of itself, and can be believed of it: never a store."""

    found: gitdir.GitDir
    identity: gitdir.Identity
    head: gitdir.Head

    @property
    def root(self) -> str:
        """The project's directory, as it is written in the bindings."""
        return str(self.found.root)

    def origin(self) -> str:
        """Its normalized remote; empty when it has none that counts."""
        url = gitdir.origin_url(self.found.common) if self.found.common else None
        return (normalize_remote(url) if url else None) or ""

    def binding(self, store: str) -> Binding:
        """The row that binds it to a store."""
        seen = self.identity
        return Binding(store, self.root, seen.device, seen.inode, seen.birth, self.origin())


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a working directory belongs to.

    Attributes:
        cwd: the directory asked about.
        project_root: its project's directory, of a linked work tree the main repository's; None outside of projects.
        git_dir: what identifies the project (see gitdir.GitDir.path).
        branch: the one checked out at cwd; None when detached or unknown.
        commit: the commit checked out there; None when unborn or unreadable.
        store: the id of the project's store; None as long as nothing was written.
        why: known | moved | restored | clone | linked | new | none: how the store was found.
        notices: what the user should know.
        claim: for `bind` and `link`.
    """

    cwd: Path
    project_root: Path | None = None
    git_dir: Path | None = None
    branch: str | None = None
    commit: str | None = None
    store: str | None = None
    why: str = "none"
    notices: tuple[str, ...] = ()
    claim: Claim | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Match:
    """Which row of the bindings a claim belongs to, and whether that row has yet to be written so."""

    why: str = "new"
    store: str | None = None
    old: Binding | None = None
    alias: bool = False
    fresh: bool = False


class Resolver:
    """Finds, makes and changes the bindings of one home directory."""

    def __init__(self, home: Path, user_home: Path, prove: Callable[[Path, Iterable[str]], bool]) -> None:
        """Take where the memory is, where the user's home is, and how commits are looked up.

        Args:
            home: the directory of the memory.
            user_home: the user's home; it is no project even when it is a repository.
            prove: whether a git directory's own object database holds one of the commits; it must follow no link,
                `commondir` or alternate, check what it finds by its hash, and be False for what it cannot read.
        """
        self._home = home
        self._user_home = user_home
        self._prove = prove

    def resolve(self, cwd: Path) -> Resolution:
        """Say which project a directory belongs to and which store that has. Mints nothing and raises nothing.

        What was found out about a moved root or a further clone is written into the bindings if that can be done.
        """
        claim = self._claim(cwd)
        if claim is None:
            return Resolution(cwd)
        table = bindings.load(self._home)
        match = self._match(table.rows, claim)
        if match.fresh:
            with contextlib.suppress(CofferError):  # a read-only home: the answer stands all the same
                bindings.change(self._home, lambda rows: self._adopted(rows, claim), timeout=READ_PATIENCE)
        return Resolution(
            cwd=cwd,
            project_root=claim.found.root,
            git_dir=claim.found.path,
            branch=claim.head.branch,
            commit=claim.head.commit,
            store=match.store,
            why=match.why,
            notices=tuple(self._notices(table, match, claim)),
            claim=claim,
        )

    def bind(self, resolution: Resolution, mint: Callable[[], str]) -> Resolution:
        """Give a project its store at the first write, and bring its row up to date at later ones.

        Args:
            resolution: where the write comes from.
            mint: makes a store id; called at most once, and only when the project has no store.

        Raises:
            ScopeUnresolved: there is no project.
            Busy: another process held the bindings for too long.
            NotWritable: the home cannot be written.
        """
        claim = _claim_of(resolution)
        table = bindings.load(self._home)
        match = self._match(table.rows, claim)
        if match.store and _placed(table.rows, match, claim, match.store) == table.rows:
            return replace(resolution, store=match.store, why=match.why)
        bound: list[tuple[str, str]] = []

        def edit(rows: Rows) -> Rows:
            now = self._match(rows, claim)
            store = now.store or mint()
            bound.append((store, now.why))
            return _placed(rows, now, claim, store)

        return self._answer(resolution, bindings.change(self._home, edit), *bound[0])

    def link(self, resolution: Resolution, store: str) -> Resolution:
        """Bind the project to an existing store, whatever it was bound to; that one stays.

        Raises:
            ScopeUnresolved: there is no project.
            NotAStoreId: `store` cannot be one; whether it exists is the caller's business.
            Busy: another process held the bindings for too long.
            NotWritable: the home cannot be written.
        """
        claim = _claim_of(resolution)
        if not bindings.is_store_id(store):
            raise NotAStoreId(store)
        table = bindings.change(self._home, lambda rows: _placed(rows, self._match(rows, claim), claim, store))
        linked = self._answer(replace(resolution, notices=()), table, store, "linked")
        self.record_commit(linked)
        return linked

    def record_commit(self, resolution: Resolution) -> None:
        """Remember the project's HEAD as proof for clones and moved roots; never fails a write that is done."""
        if resolution.store and resolution.commit:
            with contextlib.suppress(CofferError):
                bindings.record_commit(self._home, resolution.store, resolution.commit)

    def roots(self, store: str) -> list[Path]:
        """The directories bound to a store, oldest first; they need not be there any more."""
        rows = bindings.load(self._home).rows
        return [Path(root) for root in dict.fromkeys(row.root for row in rows if row.store == store)]

    def _claim(self, cwd: Path) -> Claim | None:
        found = gitdir.find_root(cwd, self._user_home)
        if found is None or found.root.is_relative_to(os.path.realpath(self._home)):  # a store is no project
            return None
        identity = gitdir.identity(found.path)
        if identity is None:
            return None
        head = gitdir.head(found.own, found.common) if found.own else gitdir.Head()
        return Claim(found, identity, head)

    def _match(self, rows: Rows, claim: Claim) -> _Match:
        """Find the claim's row: at its path, then by its inode elsewhere, then by its origin."""
        seen = claim.identity
        here = [row for row in rows if row.root == claim.root]
        known = [row for row in here if row.inode == seen.inode]
        for row in known:
            if row.birth == seen.birth:
                return _Match("known", row.store, row)
        for row in known:
            if self._proved(row.store, claim):
                return _Match("known", row.store, row, fresh=True)
        for store in dict.fromkeys(row.store for row in here if row not in known):
            if self._proved(store, claim):
                return _Match("restored", store, fresh=True)
        return self._match_inode(rows, claim) or self._match_origin(rows, claim) or _Match()

    def _match_inode(self, rows: Rows, claim: Claim) -> _Match | None:
        for row in rows:
            if row.root == claim.root or not _same_inode(row, claim):
                continue
            if _still_there(row):  # another spelling of one directory: letter case, a bind mount
                if row.birth == claim.identity.birth or self._proved(row.store, claim):
                    return _Match("known", row.store, row, alias=True)
            elif self._moved(row, claim):
                return _Match("moved", row.store, row, fresh=True)
        return None

    def _match_origin(self, rows: Rows, claim: Claim) -> _Match | None:
        origin = claim.origin()
        for store in dict.fromkeys(row.store for row in rows if origin and row.origin == origin):
            if self._proved(store, claim):
                return _Match("clone", store, fresh=True)
        return None

    def _moved(self, row: Binding, claim: Claim) -> bool:
        """Whether a git directory with a known inode is the one known, and not a new one that was given its number.

        Two copies of one template are equal in birth, so recorded commits have the last word where there are any. HEAD
        is only text, but together with inode, device and birth it is enough, and needs no object database.
        """
        commits = bindings.recorded_commits(self._home, row.store)
        same_birth = row.birth == claim.identity.birth != 0
        if same_birth and (not commits or claim.head.commit in commits):
            return True
        return self._proved(row.store, claim)

    def _proved(self, store: str, claim: Claim) -> bool:
        commits = bindings.recorded_commits(self._home, store)
        return bool(commits) and claim.found.common is not None and self._prove(claim.found.common, commits)

    def _adopted(self, rows: Rows, claim: Claim) -> Rows:
        match = self._match(rows, claim)
        return _placed(rows, match, claim, match.store) if match.store and match.fresh else rows

    def _answer(self, resolution: Resolution, table: bindings.Bindings, store: str, why: str) -> Resolution:
        notices = resolution.notices
        if table.set_aside:
            notices += (f"the damaged bindings.toml is kept as {table.set_aside}; {_RECONNECT}",)
        return replace(resolution, store=store, why=why, notices=notices)

    def _notices(self, table: bindings.Bindings, match: _Match, claim: Claim) -> Iterable[str]:
        root, found = claim.root, claim.found
        if table.damage:
            yield f"{self._home / 'bindings.toml'} is damaged ({table.damage}); {_RECONNECT}"
        if match.store:
            return
        if found.disowned and found.disowned.parent.name == "worktrees":
            yield (
                f"{found.path} leads to {found.disowned}, which does not lead back, so {root} counts as a project of "
                "its own; `git worktree repair` mends a work tree that was moved"
            )
        for row, reason in _lookalikes(table.rows, claim):
            yield (
                f"{root} {reason} the store {row.store} of {row.root}, but holds no commit recorded there: it gets a "
                f"store of its own; if they are one project, `cofferctl stores link {row.store}` says so"
            )
            return


_RECONNECT = "`cofferctl stores list` shows the stores, `cofferctl stores link STORE` binds a project to one again"


def _claim_of(resolution: Resolution) -> Claim:
    if resolution.claim is None:
        raise ScopeUnresolved(resolution.cwd)
    return resolution.claim


def _placed(rows: Rows, match: _Match, claim: Claim, store: str) -> Rows:
    """The rows with the claim bound to a store: in the place of the row it matched, or as a new one."""
    wanted = claim.binding(store)
    if match.old is not None:
        wanted = replace(wanted, root=match.old.root) if match.alias else wanted
        return tuple(wanted if row == match.old else row for row in rows)
    earlier = [row for row in rows if (row.root, row.store) == (wanted.root, wanted.store)]
    dropped = earlier[: max(0, len(earlier) - MAX_ROOTS_AT_ONE_PLACE + 1)]
    return (*(row for row in rows if row not in dropped), wanted)


def _same_inode(row: Binding, claim: Claim) -> bool:
    seen = claim.identity
    return seen.inode != 0 and (row.device, row.inode) == (seen.device, seen.inode)


def _still_there(row: Binding) -> bool:
    """Whether the git directory of a row is at its root at this moment."""
    found = gitdir.find_root(Path(row.root))
    now = gitdir.identity(found.path) if found and str(found.root) == row.root else None
    return now is not None and (now.device, now.inode) == (row.device, row.inode)


def _lookalikes(rows: Rows, claim: Claim) -> Iterable[tuple[Binding, str]]:
    """Rows that a person may know to be the same project, though nothing proves it."""
    origin = claim.origin()
    for row in rows:
        if origin and row.origin == origin:
            yield row, f"claims the remote {origin} like"
        elif row.root == claim.root:
            yield row, "stands where another repository stood, with"
        elif row.birth and row.birth == claim.identity.birth and _same_inode(row, claim):
            yield row, "looks like a moved repository, with"
