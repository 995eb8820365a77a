"""From a lane file to what the search index takes: one document for a fact or topic, one for each journal entry."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from coffer_index import Document
from cofferctl import fact, lanes, ulid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cofferctl.fact import Fact
    from cofferctl.lanes import Lane

TOPIC_PASSAGES = 3
"""Passages of one topic document or journal entry that an answer may show."""

_ENTRY = re.compile(r"^## +(?:(\d{1,2}):(\d{2}) *)?(.*)$", re.MULTILINE)
_MARK = re.compile(r"<!--\s*id\s+([0-9A-HJKMNP-TV-Z]{26})\b")
_DAY = re.compile(r"journal/(\d{4}-\d{2}-\d{2})\.md")


def of(path: str, data: bytes, file_time: Callable[[str], float]) -> list[Document]:
    """The searchable documents of a file; none for a lane that is not searched.

    Args:
        path: its lane path.
        data: its content.
        file_time: a path's time in POSIX seconds, for a file whose head has none.
    """
    lane = lanes.lane_of(path)
    if lane not in lanes.SEARCHED:
        return []
    parsed = fact.parse(path, data)
    if lane == "journal":
        return list(_journal(parsed, data, file_time))
    return [_document(parsed, lane, file_time)]


def extra(parsed: Fact) -> str:
    """What a hit tells beyond its text, as JSON; "" when there is nothing."""
    found: dict[str, str | bool] = {}
    if parsed.ref:
        found["ref"] = parsed.ref
    if parsed.conflict:
        found["conflict"] = True
    return json.dumps(found, ensure_ascii=False) if found else ""


def moment(parsed: Fact, file_time: Callable[[str], float]) -> float:
    """When a fact was last changed, in POSIX seconds."""
    known = parsed.updated_at or parsed.created_at
    return known.timestamp() if known else file_time(parsed.path)


def _document(parsed: Fact, lane: Lane, file_time: Callable[[str], float]) -> Document:
    return Document(
        path=parsed.path,
        id=parsed.id,
        title=parsed.title,
        description=parsed.description,
        lane=lane,
        body=parsed.body,
        offset=parsed.body_offset,
        time=moment(parsed, file_time),
        day=parsed.created_at.date().isoformat() if parsed.created_at and lane == "inbox" else "",
        passages=1 if lane == "inbox" else TOPIC_PASSAGES,
        extra=extra(parsed),
    )


def _journal(parsed: Fact, data: bytes, file_time: Callable[[str], float]) -> Iterator[Document]:
    named = _DAY.fullmatch(parsed.path)
    day = named[1] if named else ""
    text = fact.decode(data)
    starts = [match for match in _ENTRY.finditer(text) if match.start() >= parsed.body_offset]
    first = starts[0].start() if starts else len(text)
    if text[parsed.body_offset : first].strip():
        yield _entry(parsed, day, text, parsed.body_offset, first, None, file_time)
    for match, following in zip(starts, [*starts[1:], None], strict=True):
        end = following.start() if following else len(text)
        yield _entry(parsed, day, text, match.start(), end, match, file_time)


def _entry(
    parsed: Fact,
    day: str,
    text: str,
    start: int,
    end: int,
    heading: re.Match[str] | None,
    file_time: Callable[[str], float],
) -> Document:
    body = text[start:end]
    mark = _MARK.search(body)
    title = heading[3].strip() if heading else parsed.title
    return Document(
        path=parsed.path,
        id=mark[1] if mark else ulid.derived(f"{parsed.path}#{heading[0] if heading else ''}"),
        title=title or parsed.title,
        description="",
        lane="journal",
        body=body,
        offset=start,
        time=_entry_time(day, heading) or moment(parsed, file_time),
        day=day,
        passages=TOPIC_PASSAGES,
        extra=extra(parsed),
    )


def _entry_time(day: str, heading: re.Match[str] | None) -> float | None:
    """A journal's day is local, so its hours are."""
    if not day:
        return None
    hour, minute = (heading[1], heading[2]) if heading and heading[1] else ("0", "0")
    try:
        return datetime.fromisoformat(f"{day}T{int(hour):02}:{minute:0>2}:00").astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def iso(seconds: float) -> str:
    """POSIX seconds as an ISO time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
