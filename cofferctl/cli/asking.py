"""Questions to a person, on standard error and standard input, so that they work in any terminal and over ssh."""

from __future__ import annotations

import sys

from cofferctl.cli import render
from cofferctl.errors import UsageError


class NoTerminal(UsageError):
    """There is nobody to ask."""

    def __init__(self, hint: str) -> None:
        super().__init__("this asks questions and needs a terminal", hint=hint)


def need_terminal(hint: str) -> None:
    """Go on only where a person can be asked.

    Raises:
        NoTerminal: there is none; `hint` says what to do instead.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NoTerminal(hint)


def choice(question: str, letters: str) -> str:
    """The answer's first letter, asked for until it is one of `letters`; the last of them at the end of input."""
    while True:
        sys.stderr.write(render.clean(question))
        sys.stderr.flush()
        given = sys.stdin.readline()
        if not given:
            sys.stderr.write("\n")
            return letters[-1]
        found = given.strip().lower()[:1]
        if found and found in letters:
            return found
