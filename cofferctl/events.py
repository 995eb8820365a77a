"""What happens on this machine beside the stores: a line of names in <home>/events.jsonl, never a text of anybody."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from cofferctl import files

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 16_000_000


def record(home: Path, event: dict[str, str | None]) -> None:
    """Add one event; what has no value is left out.

    Raises:
        NotWritable: the home cannot be written.
    """
    path = home / "events.jsonl"
    line = json.dumps({key: value for key, value in event.items() if value is not None}) + "\n"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise files.NotWritable(path, error) from error


def read(home: Path) -> list[dict[str, Any]]:
    """Every event there is, oldest first; lines that are none are passed over."""
    try:
        data = files.read_regular(home / "events.jsonl", MAX_BYTES) or b""
    except OSError:
        return []
    return [found for line in data.splitlines() if isinstance(found := _object(line), dict)]


def _object(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
