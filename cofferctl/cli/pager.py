"""Long answers on a terminal go through a pager, as git does it: COFFER_PAGER, PAGER, else less."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from cofferctl.cli import render

if TYPE_CHECKING:
    from collections.abc import Iterator

FALLBACKS = ("less", "more")
_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
"""Leave at once what fits the screen, keep colours, do not clear: git's own choice."""


def command() -> list[str]:
    """The pager's command line; empty when none is wanted or there is none."""
    given = next((found for name in ("COFFER_PAGER", "PAGER") if (found := os.environ.get(name)) is not None), None)
    if given is None:
        return next(([name] for name in FALLBACKS if shutil.which(name)), [])
    try:
        words = shlex.split(given)
    except ValueError:
        return []
    return words if words and words != ["cat"] and shutil.which(words[0]) else []


@contextlib.contextmanager
def paged() -> Iterator[None]:
    """Let a pager show what is printed inside, where standard output is a terminal.

    Raises:
        Unread: the user left the pager before everything was printed.
    """
    words = command() if sys.stdout.isatty() and os.environ.get("TERM") != "dumb" else []
    process = _start(words)
    if process is None or process.stdin is None:
        yield
        return
    screen = os.dup(1)
    width = shutil.get_terminal_size().columns
    sys.stdout.flush()
    os.dup2(process.stdin.fileno(), 1)
    process.stdin.close()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's to handle
    try:
        with render.through_pager(width):
            yield
            render.flush()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()  # what nobody read must not reach the screen later
        os.dup2(screen, 1)  # closes the pager's input
        os.close(screen)
        process.wait()
        signal.signal(signal.SIGINT, before)


def _start(words: list[str]) -> subprocess.Popen[bytes] | None:
    if not words:
        return None
    with contextlib.suppress(OSError):
        return subprocess.Popen(words, stdin=subprocess.PIPE, env={**_DEFAULTS, **os.environ})  # noqa: S603
    return None
