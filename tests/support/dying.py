"""Runs one command line again and again in forked children, each killed at another step of the write.

A child process of its own, because what is wrapped here must not be wrapped in the tests' process. Reads one JSON
document from standard input, {"argv": [...], "jobs": [{"home": dir, "kill": [...]}]}; writes for each job the wait
status. A job's `kill` is ["step", dotted name, which call, "before" | "after"], or ["call", n]: die instead of the n-th
call into the system that changes a file; ["count"] kills nothing and answers how many of those there are.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from typing import Any

CHANGING = ("os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.symlink")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_step(name: str, number: int, when: str) -> None:
    """Die before or after the n-th call of a function, named `module:attribute.attribute`."""
    module, _, path = name.partition(":")
    owner: Any = importlib.import_module(module)
    *parents, last = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    real, calls = getattr(owner, last), [0]

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if calls[0] == number and when == "before":
            die()
        result = real(*args, **kwargs)
        if calls[0] == number:
            die()
        return result

    setattr(owner, last, wrapped)


def at_call(number: int, counted: list[int]) -> None:
    """Die instead of the n-th call that changes the file system; 0: only count them."""

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event not in CHANGING and not (event == "open" and isinstance(args[2], int) and args[2] & WRITING):
            return
        if event == "open" and args[0] == os.devnull:
            return
        counted[0] += 1
        if counted[0] == number:
            die()

    sys.addaudithook(hook)


def child(job: dict[str, Any], argv: list[str], pipe: int) -> None:
    os.environ["COFFER_HOME"] = job["home"]
    kind, *rest = job["kill"]
    counted = [0]
    if kind == "step":
        at_step(*rest)
    else:
        at_call(rest[0] if kind == "call" else 0, counted)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    from cofferctl.cli import app

    os.umask(0o077)
    code = app.run(argv)
    os.write(pipe, b"%d" % counted[0])
    os._exit(code)


def main() -> None:

    given = json.load(sys.stdin)
    answers = []
    for job in given["jobs"]:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                child(job, given["argv"], write)
            finally:
                os._exit(99)
        os.close(write)
        with os.fdopen(read, "rb") as answer:
            counted = answer.read()
        _, status = os.waitpid(pid, 0)
        answers.append({"status": status, "counted": int(counted or b"0")})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
