"""The base error and the exit codes; each failure is a named class beside the code that raises it."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar


class ExitCode(IntEnum):
    """What the process says on ending; a stable interface."""

    OK = 0
    BUG = 1
    USAGE = 2
    NOT_FOUND = 3
    REJECTED = 4
    UNAVAILABLE = 5
    CONFLICT = 6
    SERVICE = 7
    INTERRUPTED = 130


class CofferError(Exception):
    """A failure a user can act on.

    Subclasses set `code` (the name in JSON) and `exit_code`, and build their message from the facts of the failure.

    Attributes:
        message: one sentence, without a trailing newline.
        hint: what to do next, or None.
        details: further facts for machines, JSON-ready.
    """

    code: ClassVar[str] = "INTERNAL"
    exit_code: ClassVar[ExitCode] = ExitCode.BUG

    def __init__(self, message: str, *, hint: str | None = None, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details or {}


class UsageError(CofferError):
    """The command was given arguments that do not go together."""

    code = "USAGE"
    exit_code = ExitCode.USAGE
