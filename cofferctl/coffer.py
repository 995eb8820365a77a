"""Coffer: what every command receives; it opens stores and indexes and knows the place, the clock and the identity."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from cofferctl import config, documents, files, scope, store, ulid
from cofferctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from coffer_index import Document, Index
    from cofferctl.config import Config
    from cofferctl.history.message import Record
    from cofferctl.history.repository import Signature
    from cofferctl.scope import Resolution
    from cofferctl.store import Store


class ScopeAndStore(UsageError):
    """Both ways to name a store were used at once."""

    def __init__(self) -> None:
        super().__init__("--scope and --store cannot be used together", hint="--store already names one store")


class BadScope(UsageError):
    """A scope that is none, or that cannot be written to."""

    def __init__(self, given: str, wanted: Sequence[str]) -> None:
        super().__init__(f"scope {given!r} cannot be used here", hint=f"use one of {', '.join(wanted)}")


@dataclass(frozen=True, slots=True)
class Who:
    """Who does something: `actor` is user or agent; the agent program and its session when they are known."""

    actor: str
    agent: str | None = None
    session: str | None = None

    def record(self, event: str, subject: str, *, operation: str, fact: str | None = None) -> Record:
        """What a commit of theirs says of itself; a secret in its subject is masked."""
        from cofferctl import secrets  # noqa: PLC0415
        from cofferctl.history.message import Record  # noqa: PLC0415

        return Record(secrets.mask(subject), event, self.actor, fact, self.agent, self.session, operation)


def _now() -> datetime:
    return datetime.now().astimezone()


@dataclass(slots=False)
class Coffer:
    """One user's memory, seen from one working directory.

    Attributes:
        config: the machine and the user.
        clock: the time now, with its zone.
        progress: called with (what, done, all) during long work; None where nobody looks.
    """

    config: Config
    clock: Callable[[], datetime] = _now
    progress: Callable[[str, int, int], None] | None = None
    notices: list[str] = field(default_factory=list)
    _indexes: dict[str, Index] = field(default_factory=dict)

    def notice(self, text: str) -> None:
        """Keep something the user should know for the answer; once."""
        if text not in self.notices:
            self.notices.append(text)

    @cached_property
    def settings(self) -> dict[str, object]:
        """config.toml of this machine."""
        found, wrong = config.load(self.config.home / "config.toml")
        if wrong:
            self.notice(wrong)
        return found

    def setting(self, key: str, of: Store | None = None) -> object:
        """A setting's effective value: the store's own, else the machine's, else the default."""
        sources = ([of.settings()] if of else []) + [self.settings]
        return config.effective(key, *sources)[0]

    def max_fact_chars(self, of: Store | None) -> int:
        """How long a fact of a store may be; before a project has one, the machine's limit counts."""
        return int(str(self.setting("max_fact_chars", of)))

    @cached_property
    def resolver(self) -> scope.Resolver:
        """Who knows which directory is which project."""
        return scope.Resolver(self.config.home, self.config.user_home or self.config.home, _prove)

    @cached_property
    def place(self) -> Resolution:
        """The project of the working directory."""
        config.check_home(self.config.home)
        found = self.resolver.resolve(self.config.cwd)
        for text in found.notices:
            self.notice(text)
        return found

    def global_store(self) -> Store:
        """The store of what holds everywhere."""
        config.check_home(self.config.home)
        return store.locate(self.config.home, store.GLOBAL_ID)

    def project_store(self) -> Store | None:
        """The store of the project here; None when it has none yet.

        Raises:
            ScopeUnresolved: there is no project here.
        """
        if self.place.project_root is None:
            raise scope.ScopeUnresolved(self.config.cwd)
        return store.locate(self.config.home, self.place.store) if self.place.store else None

    def named(self, name: str) -> Store:
        """A store by its name, which need not exist yet.

        Raises:
            NoSuchStore: the name is not one a store can have.
        """
        config.check_home(self.config.home)
        return store.locate(self.config.home, store.project_id(name))

    def readable(self, wanted: str | None = None, name: str | None = None) -> list[Store]:
        """The stores a read looks in, the project's first.

        Args:
            wanted: project, global or both; None is both, as far as there is a project here.
            name: one store by name instead.

        Raises:
            ScopeAndStore, BadScope, NoSuchStore, ScopeUnresolved.
        """
        if name is not None:
            if wanted is not None:
                raise ScopeAndStore
            return self._usable([self.named(name)])
        if wanted not in (None, "both", "project", "global"):
            raise BadScope(str(wanted), ("project", "global", "both"))
        found: list[Store] = []
        if wanted == "project" or (wanted != "global" and self.place.project_root is not None):
            project = self.project_store()
            found += [project] if project else []
        if wanted != "project":
            found.append(self.global_store())
        return self._usable(found)

    def _usable(self, found: list[Store]) -> list[Store]:
        for of in found:
            if of.occupied:
                self.notice(f"{of.directory} is not a usable git repository and is left out")
        return found

    def existing(self, wanted: str | None = None, name: str | None = None) -> list[Store]:
        """Of the stores a read looks in, those that are there."""
        return [found for found in self.readable(wanted, name) if found.exists]

    def writable(self, wanted: str | None = None, name: str | None = None) -> Store:
        """The store a write goes to; a project's first write gives it one.

        Raises:
            ScopeAndStore, BadScope, NoSuchStore, ScopeUnresolved.
        """
        if name is not None:
            if wanted is not None:
                raise ScopeAndStore
            target = self.named(name)
        elif wanted == "global":
            target = self.global_store()
        elif wanted in (None, "project"):
            target = self._bound()
        else:
            raise BadScope(wanted, ("project", "global"))
        self._tighten()
        return target

    def _bound(self) -> Store:
        if self.place.project_root is None:
            raise scope.ScopeUnresolved(self.config.cwd)
        files.make_private_dirs(self.config.home)
        bound = self.resolver.bind(self.place, self.new_id)
        self.place = bound
        return store.locate(self.config.home, str(bound.store))

    def _tighten(self) -> None:
        """Take other users' rights off a home that was made with a loose umask."""
        for directory in (self.config.home, self.config.home / "memory"):
            with suppress(OSError):
                mode = directory.stat().st_mode
                if os.name == "posix" and mode & 0o077:
                    directory.chmod(mode & 0o700)

    def written(self, target: Store) -> None:
        """Note, after a write, which commit of the project it was made at: proof for its clones and moves."""
        if target.id == self.place.store:
            self.resolver.record_commit(self.place)

    def who(self, actor: str | None = None, agent: str | None = None, session: str | None = None) -> Who:
        """Who acts: what was said, else what the environment tells, else a person."""
        around = self.config.agent
        actor = actor or ("agent" if agent or around else "user")
        known = around if actor == "agent" else None
        return Who(actor, agent or (known.name if known else None), session or (known.session if known else None))

    def new_id(self) -> str:
        """A fresh identifier, for a fact or an operation."""
        return ulid.new(int(self.clock().timestamp() * 1000))

    def provenance(self, target: Store) -> dict[str, str]:
        """Where in the project something is learnt: the branch, as keys of a fact's head."""
        place = self.place
        return {"branch": place.branch} if place.branch and target.id == place.store else {}

    def author(self, who: Who) -> Signature:
        """Who signs a commit made now."""
        from cofferctl.history import identity  # noqa: PLC0415 - writes only
        from cofferctl.history.repository import Signature  # noqa: PLC0415

        now = self.clock()
        offset = now.utcoffset()
        if who.actor == "agent":
            name = "".join(char for char in who.agent or "agent" if char.isprintable() and char not in "<>") or "agent"
            signed = f"{name} <{name.replace(' ', '-')}@coffer.invalid>"
        else:
            signed = identity.person(self.config.git_configs)
        return Signature(signed, int(now.timestamp()), int(offset.total_seconds()) if offset else 0)

    def index(self, of: Store) -> Index:
        """A store's search index, opened once."""
        from coffer_index import Index  # noqa: PLC0415 - tantivy: only searches need it

        if of.name not in self._indexes:
            self._indexes[of.name] = Index.open(self.index_directory(of), notice=self.notice)
        return self._indexes[of.name]

    def index_directory(self, of: Store) -> Path:
        """Where a store's search index is kept."""
        if self.config.index_root is None:
            return of.git_dir / "coffer-index"
        key = hashlib.sha256(os.fsencode(os.path.realpath(of.git_dir))).hexdigest()[:16]
        return self.config.index_root / key

    def loader(self, of: Store) -> Callable[[str], Sequence[Document]]:
        """How the index reads a store's files."""
        times = FileTimes(of)

        def load(path: str) -> Sequence[Document]:
            data = of.read(path)
            if data is None:
                raise FileNotFoundError(path)
            return documents.of(path, data, times)

        return load

    def roots(self, of: Store) -> list[Path]:
        """The project directories bound to a store."""
        return self.resolver.roots(of.id)


class FileTimes:
    """When a file without times in its head was last changed: its last commit, else its mtime."""

    def __init__(self, of: Store) -> None:
        self._store = of
        self._committed: dict[str, float] | None = None

    def __call__(self, path: str) -> float:
        """POSIX seconds."""
        if self._committed is None:
            from cofferctl.history import programs  # noqa: PLC0415 - few files have no times

            self._committed = programs.commit_times(self._store.directory)
        known = self._committed.get(path)
        if known is not None:
            return known
        try:
            return (self._store.directory / path).stat().st_mtime
        except OSError:
            return 0.0


def _prove(git_dir: Path, commits: Iterable[str]) -> bool:
    from cofferctl.history import prove  # noqa: PLC0415 - only for a root never seen before

    return prove.holds(git_dir, commits)
