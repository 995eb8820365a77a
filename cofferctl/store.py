"""A store: a directory that is a git repository of Markdown lanes; reading it, and the door to writing it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cofferctl import config, fact, files, gitdir, ulid, worktree
from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cofferctl.fact import Fact
    from cofferctl.history.repository import Signature
    from cofferctl.snapshot import Snapshot
    from cofferctl.transaction import Change, Receipt
    from cofferctl.worktree import Worktree

T = TypeVar("T")

FORMAT = 1
GLOBAL_ID = "0" * ulid.LENGTH
GLOBAL = "global"
_NAME = re.compile(rf"project-({ulid.PATTERN.pattern})")

_STORE_TOML = """\
# One memory of a developer's agents, kept by cofferctl: Markdown files, every change a commit.
format = {format}
id = "{id}"
"""
_ATTRIBUTES = "*.md text eol=lf\n"
_IGNORE = """\
# Derived pages and what editors leave behind.
/knowledge/INDEX.md
/consolidation-log.md
*~
.*.sw?
.#*
#*#
*.tmp
.DS_Store
"""


class NoSuchStore(CofferError):
    """A store's name is not one a store can have."""

    code = "MEMORY_STORE_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, name: str) -> None:
        super().__init__(f"no such store: {name}", hint="`cofferctl stores list` shows the stores there are")


class NewerFormat(CofferError):
    """A store was written by a later version of this tool."""

    code = "STORE_NOT_WRITABLE"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, path: Path, found: object) -> None:
        super().__init__(f"{path} has format {found}; this version knows {FORMAT}", hint="upgrade cofferctl")


@dataclass(frozen=True, slots=True)
class Store:
    """One store, which need not exist yet.

    Attributes:
        id: a ULID; `GLOBAL_ID` for the global store.
        directory: where it is, or will be.
    """

    id: str
    directory: Path
    _settings: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """What it is called: `global` or `project-<ULID>`."""
        return GLOBAL if self.id == GLOBAL_ID else f"project-{self.id}"

    @property
    def scope(self) -> str:
        """`global` or `project`."""
        return GLOBAL if self.id == GLOBAL_ID else "project"

    @property
    def exists(self) -> bool:
        """Whether anything was ever written to it."""
        return gitdir.is_git_dir(self.directory / ".git")

    @property
    def occupied(self) -> bool:
        """Whether files stand in its place that are no repository, as after a lost `.git/objects`."""
        return not self.exists and self.directory.is_dir() and any(self.directory.iterdir())

    @property
    def git_dir(self) -> Path:
        """Its repository's own directory."""
        return self.directory / ".git"

    @property
    def private(self) -> Path:
        """Our directory in there: lock, intent log, stat cache; all but a log of a write under way can be deleted."""
        return self.git_dir / "coffer"

    def head(self) -> str | None:
        """HEAD's commit id, None before the first commit."""
        return gitdir.head(self.git_dir).commit

    def scan(self) -> Worktree:
        """The lanes as they are on disk."""
        if not self.exists:
            return worktree.Worktree()
        return worktree.scan(self.directory, self.private / "stat")

    def read(self, path: str) -> bytes | None:
        """A lane file's bytes; None when it is gone, or reached through a link, or none of ours to read."""
        directory = self.directory
        for part in path.split("/")[:-1]:
            directory = directory / part
            if directory.is_symlink():
                return None
        return files.read_regular(self.directory / path)

    def fact(self, path: str) -> Fact | None:
        """The fact in a lane file, None when it is gone."""
        data = self.read(path)
        return fact.parse(path, data) if data is not None else None

    def settings(self) -> dict[str, Any]:
        """What store.toml says; read once.

        Raises:
            NewerFormat: the store was made by a later version.
        """
        if not self._settings and self.exists:
            found, _ = config.load(self.directory / "store.toml", untouched=_store_toml(self.id))
            form = found.get("format", FORMAT)
            if not isinstance(form, int) or form > FORMAT:
                raise NewerFormat(self.directory, form)
            self._settings.update(found or {"format": FORMAT})
        return self._settings

    def content(self, revision: str, path: str) -> bytes | None:
        """A path's bytes in a commit; None when it has no such path.

        Raises:
            NoSuchRevision: there is no such commit.
        """
        from cofferctl.history.log import History  # noqa: PLC0415

        history = History(self.directory)
        try:
            return history.content(history.resolve(revision), path)
        finally:
            history.close()

    def pending(self) -> Snapshot:
        """What the next write will commit as outside edits, and what git is in the middle of."""
        return _pending(self)

    def write(self, plan: Callable[[Worktree], Change[T]], author: Signature, *, appending: bool = False) -> Receipt[T]:
        """Carry out a change, see `transaction.write`; the store is made when it is not there yet."""
        from cofferctl import transaction  # dulwich: nothing that only reads needs it  # noqa: PLC0415

        try:
            if not self.exists:
                create(self)
        except OSError as error:
            raise files.NotWritable(error.filename or self.directory, error) from error
        self.settings()
        return transaction.write(self.directory, plan, author, appending=appending)


def _pending(store: Store) -> Snapshot:
    from cofferctl import snapshot  # noqa: PLC0415
    from cofferctl.history.repository import Repository  # noqa: PLC0415

    repo = Repository(store.directory)
    try:
        found = snapshot.take(repo, repo.tree_of(repo.branch().commit), store.private / "stat")
        found.unfinished = repo.unfinished()
        return found
    finally:
        repo.close()


def _store_toml(identifier: str) -> bytes:
    """The file as we make it."""
    return _STORE_TOML.format(format=FORMAT, id=identifier).encode()


def create(store: Store) -> None:
    """Make an empty store beside its place and move it there, so that nobody ever sees half of one."""
    import shutil  # noqa: PLC0415

    from cofferctl.history import making, repository  # noqa: PLC0415

    parent = store.directory.parent
    memory = parent if store.id == GLOBAL_ID else parent.parent
    files.make_private_dirs(parent)
    with files.lock(memory / ".creating"):
        if store.exists:
            return
        if store.occupied:
            raise repository.NotAStore(store.directory, "its .git is missing or damaged")
        for dead in memory.glob(".new-*"):  # of a process that was killed here
            shutil.rmtree(dead, ignore_errors=True)
        new = memory / f".new-{ulid.new(0)}"
        new.mkdir(mode=0o700)
        making.init(new)
        for name, text in (
            ("store.toml", _store_toml(store.id).decode()),
            (".gitattributes", _ATTRIBUTES),
            (".gitignore", _IGNORE),
        ):
            files.write_new(new / name, text.encode())
        (new / "knowledge/inbox").mkdir(parents=True, mode=0o700)
        files.make_private_dirs(new / ".git/coffer")
        if store.directory.is_dir():
            store.directory.rmdir()
        new.rename(store.directory)
        files.fsync_dir(parent)


def project_id(name: str) -> str:
    """The id of a store's name.

    Raises:
        NoSuchStore: no store can have that name.
    """
    if name == GLOBAL:
        return GLOBAL_ID
    match = _NAME.fullmatch(name)
    if not match:
        raise NoSuchStore(name)
    return match[1]


def locate(home: Path, identifier: str) -> Store:
    """The store with an id, which need not exist."""
    memory = home / "memory"
    return Store(identifier, memory / "global" if identifier == GLOBAL_ID else memory / "projects" / identifier)


def existing(home: Path) -> list[Store]:
    """Every store there is, the global one first."""
    try:
        names = sorted(item.name for item in (home / "memory/projects").iterdir())
    except OSError:
        names = []
    stores = [locate(home, GLOBAL_ID), *(locate(home, name) for name in names if ulid.PATTERN.fullmatch(name))]
    return [store for store in stores if store.exists]
