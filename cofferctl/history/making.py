"""Making the repository of a new store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dulwich.config import StackedConfig
from dulwich.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path


def init(path: Path, branch: str = "main") -> None:
    """Make an empty repository for a store, whose settings no user or system configuration can change.

    splitIndex and sparse index are off because dulwich cannot read those; nothing is ever pruned.
    """
    repo = Repo.init(str(path), config=StackedConfig([]), default_branch=branch.encode())
    config = repo.get_config()
    for section, name, value in (
        ("core", "splitIndex", "false"),
        ("core", "sharedRepository", "0600"),
        ("core", "autocrlf", "false"),
        ("index", "sparse", "false"),
        ("gc", "pruneExpire", "never"),
        ("gc", "reflogExpire", "never"),
        ("gc", "reflogExpireUnreachable", "never"),
    ):
        config.set((section.encode(),), name.encode(), value.encode())
    config.write_to_path()
    repo.close()
