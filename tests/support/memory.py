"""A memory as its commands see it: real stores, every call opened anew as the program would."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cofferctl import config
from cofferctl.coffer import Coffer

if TYPE_CHECKING:
    from cofferctl.commands.list_facts import Listed
    from cofferctl.commands.log import Logged
    from cofferctl.commands.recall import Hit, Recalled
    from cofferctl.commands.reindex import Reindexed
    from cofferctl.commands.remember import Remembered
    from cofferctl.commands.show import Shown
    from cofferctl.commands.status import Status
    from cofferctl.commands.where import Place
    from cofferctl.importing import Imported
    from cofferctl.store import Store

INBOX = "knowledge/inbox"


def git(cwd: Path, *args: str) -> str:
    """Plain git; an AssertionError with what it said when it fails."""
    done = subprocess.run(["git", *args], cwd=cwd, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {done.stderr}{done.stdout}")
    return done.stdout


@dataclass
class Memory:
    """The memory seen from `cwd`; `now` stops the clock, `env` is added to the environment."""

    cwd: Path
    now: datetime | None = None
    env: dict[str, str] = field(default_factory=dict)

    def at(self, cwd: Path) -> Memory:
        return Memory(cwd, self.now, self.env)

    def days_ago(self, days: float) -> Memory:
        return Memory(self.cwd, datetime.now(UTC) - timedelta(days=days), self.env)

    @property
    def coffer(self) -> Coffer:
        settings = config.from_environment({**os.environ, **self.env}, Path(self.cwd).resolve())
        return Coffer(settings) if self.now is None else Coffer(settings, clock=lambda: self.now)

    def remember(self, text: str, **options: Any) -> Remembered:
        from cofferctl.commands.remember import remember

        return remember(self.coffer, text, **options)

    def recall(self, query: str, **options: Any) -> Recalled:
        from cofferctl.commands.recall import recall

        return recall(self.coffer, query, **options)

    def hits(self, query: str, **options: Any) -> tuple[Hit, ...]:
        return self.recall(query, **options).hits

    def texts(self, query: str, **options: Any) -> list[str]:
        return [hit.text.strip("\n") for hit in self.hits(query, **options)]

    def list(self, **options: Any) -> Listed:
        from cofferctl.commands.list_facts import list_facts

        return list_facts(self.coffer, **options)

    def show(self, selector: str, **options: Any) -> Shown:
        from cofferctl.commands.show import show

        return show(self.coffer, selector, **options)

    def log(self, *selector: str, **options: Any) -> Logged:
        from cofferctl.commands.log import log

        return log(self.coffer, *selector, **options)

    def where(self) -> Place:
        from cofferctl.commands.where import where

        return where(self.coffer)

    def status(self, **options: Any) -> Status:
        from cofferctl.commands.status import status

        return status(self.coffer, **options)

    def reindex(self, **options: Any) -> Reindexed:
        from cofferctl.commands.reindex import reindex

        return reindex(self.coffer, **options)

    def import_lines(self, *lines: str | bytes, **options: Any) -> Imported:
        from cofferctl.commands.import_jsonl import import_jsonl

        path = self.cwd.parent / "import.jsonl"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
        return import_jsonl(self.coffer, path, **options)

    @property
    def store(self) -> Store:
        found = self.coffer.project_store()
        assert found is not None, "the project has no store yet"
        return found

    @property
    def everywhere(self) -> Store:
        return self.coffer.global_store()

    def put(self, path: str, data: str | bytes) -> Path:
        """Write a file into the project's store by hand."""
        target = self.store.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
        return target

    def file(self, path: str) -> Path:
        return self.store.directory / path

    def git(self, *args: str) -> str:
        """Plain git in the project's store."""
        return git(self.store.directory, *args)

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def sound(self) -> None:
        """The repository is whole, and nothing of it waits for a commit."""
        assert self.git("fsck", "--strict", "--no-dangling").strip() == ""
        assert self.git("status", "--porcelain").strip() == ""


def snapshot(directory: Path) -> dict[str, tuple[int, int]]:
    """Every path below a directory, with its size and mtime."""
    return {
        str(path.relative_to(directory)): (info.st_size, info.st_mtime_ns)
        for path in sorted(directory.rglob("*"))
        if not path.is_dir() and (info := path.lstat())
    }
