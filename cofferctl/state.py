"""What this machine remembers beside the stores: which facts a person has looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cofferctl import files

if TYPE_CHECKING:
    from pathlib import Path

REVIEWED = "reviewed"
MAX_BYTES = 50_000_000
_COMPACT_FROM = 1_000


def reviewed(home: Path) -> dict[str, str]:
    """Fact id -> the blob id it had when a person last kept it."""
    data = files.read_regular(home / REVIEWED, MAX_BYTES) or b""
    rows = (line.split() for line in data.decode("utf-8", "replace").splitlines())
    return {row[0]: row[1] for row in rows if len(row) == len(("id", "blob"))}


def mark_reviewed(home: Path, identifier: str, blob: str) -> None:
    """Remember that a person kept a fact as it is; a fact edited later has another blob id.

    Raises:
        NotWritable: it cannot be written.
    """
    path = home / REVIEWED
    line = f"{identifier} {blob}\n".encode()
    try:
        with files.lock(home / f".{REVIEWED}.lock"):
            data = files.read_regular(path, MAX_BYTES) or b""
            if data.count(b"\n") >= _COMPACT_FROM:
                known = reviewed(home)
                data = "".join(f"{one} {at}\n" for one, at in known.items() if one != identifier).encode()
            files.write_atomic(path, data + line)
    except OSError as error:
        raise files.NotWritable(path, error) from error
    if os.name == "posix":
        path.chmod(0o600)
