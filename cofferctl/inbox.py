"""Where new facts go: a directory that is not too full, a file name that nothing else has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cofferctl import lanes

if TYPE_CHECKING:
    from pathlib import Path


class Inbox:
    """The inbox of a store as it is on disk, and as the facts placed so far will leave it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: dict[str, set[str]] = {}

    def place(self, title: str, identifier: str, month: str) -> str:
        """A lane path for a new fact, which is taken from then on.

        Args:
            title: what its name is made of.
            identifier: its id.
            month: `YYYY-MM` of its creation, its directory once the inbox is full.
        """
        directory = self._directory(month)
        taken = self._taken(directory)
        name = lanes.free_name(lanes.slug(title), identifier, taken)
        taken.add(name)
        return f"{directory}/{name}"

    def _directory(self, month: str) -> str:
        """The inbox while it is small, else the month's directory, else that one's next part."""
        directory, part = lanes.INBOX, 0
        while len(self._taken(directory)) >= lanes.INBOX_LIMIT:
            part += 1
            directory = f"{lanes.INBOX}/{month}" + (f"-{part}" if part > 1 else "")
        return directory

    def _taken(self, directory: str) -> set[str]:
        if directory not in self._names:
            try:
                names = os.listdir(self._root / directory)
            except OSError:
                names = []
            self._names[directory] = {lanes.fold(name) for name in names}
        return self._names[directory]
