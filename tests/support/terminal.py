"""A program on a terminal of a given width."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
from typing import TYPE_CHECKING

from support.program import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def on_terminal(
    args: Sequence[str], *, cwd: Path, columns: int = 80, color: bool = False, typed: bytes = b"", **env: str
) -> str:
    """Everything the terminal is sent, standard output and error together."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    wanted = {**os.environ, "TERM": "xterm-256color", "PAGER": "cat", **env}
    wanted.pop("COLUMNS", None)
    if color and "NO_COLOR" not in env:
        wanted.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [PROGRAM, *args], cwd=cwd, env=wanted, stdin=follower, stdout=follower, stderr=follower, close_fds=True
    )
    os.close(follower)
    if typed:
        os.write(leader, typed)
    seen = b""
    with contextlib.suppress(OSError):  # EIO: the program has closed its end
        while chunk := os.read(leader, 65_536):
            seen += chunk
    os.close(leader)
    process.wait(30)
    return seen.decode("utf-8", "replace")
