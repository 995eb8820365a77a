"""Options with a list of values: the one error for a value that is not on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cofferctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection


class BadChoice(UsageError):
    """An option has a value it cannot have."""

    def __init__(self, option: str, given: object, wanted: str) -> None:
        super().__init__(f"{option} cannot be {given!r}", hint=f"use {wanted}")


def check(option: str, given: str | None, known: Collection[str]) -> None:
    """Refuse a value that is not known; None was not given.

    Raises:
        BadChoice: it is not.
    """
    if given is not None and given not in known:
        raise BadChoice(option, given, f"one of {', '.join(known)}")
