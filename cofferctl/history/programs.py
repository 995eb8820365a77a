"""Running the git program inside a store, out of reach of anybody's configuration and environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "gc.pruneExpire=never",
    "gc.autoDetach=false",
)


_CHUNK = 1 << 16


class Failed(Exception):
    """The git program could not answer; whoever asked has another way."""


FSCK_SECONDS = 120


def git() -> str | None:
    """The git program's path, None when the machine has none."""
    import shutil  # noqa: PLC0415 - only writes need it

    return shutil.which("git")


def environment(store: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Our environment without any GIT_* variable, pinned to the store."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return env | {
        "GIT_DIR": str(store / ".git"),
        "GIT_WORK_TREE": str(store),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        **(extra or {}),
    }


def _command(program: str, arguments: list[str]) -> list[str]:
    return [program, *(part for setting in _SETTINGS for part in ("-c", setting)), *arguments]


def run(program: str, store: Path, arguments: list[str], *, stdin: bytes, extra: Mapping[str, str]) -> bool:
    """Run git to its end; whether it succeeded."""
    import subprocess  # noqa: PLC0415

    done = subprocess.run(  # noqa: S603 - our own arguments, no shell
        _command(program, arguments),
        cwd=store,
        env=environment(store, extra),
        input=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def start(program: str, store: Path, arguments: list[str]) -> None:
    """Start git in the background and leave it to itself; it outlives us."""
    import subprocess  # noqa: PLC0415

    detached = {"creationflags": 0x00000208} if os.name == "nt" else {"start_new_session": True}
    subprocess.Popen(  # noqa: S603
        _command(program, arguments),
        cwd=store,
        env=environment(store),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        **detached,
    )


def stream(program: str, store: Path, arguments: list[str]) -> Iterator[bytes]:
    """What git prints, in pieces as they come; it is stopped when nobody wants the rest.

    Paths are taken literally; replaced objects and missing ones that a remote could send count as they are here.

    Raises:
        Failed: git did not come to a good end.
    """
    import subprocess  # noqa: PLC0415

    extra = {"GIT_LITERAL_PATHSPECS": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1"}
    try:
        process = subprocess.Popen(  # noqa: S603
            _command(program, arguments),
            cwd=store,
            env=environment(store, extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise Failed from error
    with process:
        try:
            out = process.stdout
            while out and (chunk := out.read1(_CHUNK)):  # type: ignore[attr-defined]
                yield chunk
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise Failed


def commit_times(store: Path) -> dict[str, float]:
    """Path -> time of the last commit that touched it, of every path in the history; empty without a git program."""
    import subprocess  # noqa: PLC0415

    program = git()
    if not program:
        return {}
    done = subprocess.run(  # noqa: S603
        _command(program, ["log", "--format=%x01%ct", "--name-only", "--no-renames", "-z"]),
        cwd=store,
        env=environment(store),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    times: dict[str, float] = {}
    now = 0.0
    for field in done.stdout.split(b"\0"):
        for part in field.split(b"\n"):
            if part.startswith(b"\x01"):
                now = float(part[1:])
            elif part:
                times.setdefault(os.fsdecode(part), now)
    return times


def fsck(store: Path) -> list[str]:
    """What git finds wrong with a store's objects; nothing without a git program, or when it takes too long."""
    import subprocess  # noqa: PLC0415

    program = git()
    if not program:
        return []
    try:
        done = subprocess.run(  # noqa: S603
            _command(program, ["fsck", "--full", "--strict", "--no-dangling", "--no-progress"]),
            cwd=store,
            env=environment(store),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=FSCK_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return []
    said = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
    return (said or [f"it ends with code {done.returncode}"]) if done.returncode else []
