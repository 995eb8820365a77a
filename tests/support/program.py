"""The installed program, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("cofferctl"))


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str
    raw: bytes


def run(*args: str | bytes, stdin: bytes = b"", cwd: Path | None = None, **env: str | None) -> Done:
    """Run the program to its end; a variable that is None is unset."""
    wanted = {**os.environ, **{name: value for name, value in env.items() if value is not None}}
    for name in [name for name, value in env.items() if value is None]:
        wanted.pop(name, None)
    done = subprocess.run(
        [PROGRAM, *args], input=stdin, cwd=cwd, env=wanted, capture_output=True, check=False, timeout=60
    )
    return Done(
        done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), done.stdout
    )
