"""Dates as people type them on a command line."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from cofferctl.errors import UsageError

_AGO = re.compile(r"(\d{1,6})\s*(min|h|d|w|m|y)")
_UNITS = {"min": 1 / 1440, "h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_WORDS = {"now": 0, "today": 0, "yesterday": 1}


class BadDate(UsageError):
    """A date that cannot be understood."""

    def __init__(self, text: str) -> None:
        super().__init__(f"not a date: {text!r}", hint="write 2026-06-09, 2026-06-09T10:00, 7d, 2w or yesterday")


def parse(text: str, now: datetime) -> datetime:
    """A moment: an ISO day or time (local when it has no offset), `7d`, `2w`, `3h`, `yesterday`.

    Args:
        text: what was typed.
        now: the time now, with its zone.

    Raises:
        BadDate: it is none of these.
    """
    word = text.strip().lower()
    ago = _AGO.fullmatch(word)
    try:
        if ago:
            return now - timedelta(days=int(ago[1]) * _UNITS[ago[2]])
        if word in _WORDS:
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            return now if word == "now" else midnight - timedelta(days=_WORDS[word])
        moment = datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        raise BadDate(text) from None
