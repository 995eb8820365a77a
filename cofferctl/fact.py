"""A fact: a Markdown file with an optional YAML head, read leniently, written exactly, edited textually."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cofferctl import ulid
from cofferctl.errors import CofferError, ExitCode
from cofferctl.head import MAX_HEAD_CHARS, HeadUnreadable, clean, edit_head, entry, load, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cofferctl.head import Value

__all__ = [
    "Fact",
    "HeadTooLarge",
    "HeadUnreadable",
    "conflicted",
    "decode",
    "edit",
    "first_sentence",
    "normalize",
    "parse",
    "render",
    "split",
    "with_id",
]

TITLE_CHARS = 80

# Rarely needed, so compiled (and kept by `re`) on first need.
_LINE_ENDS = r"(?<!\r)\r++(?:\n|\Z)"
_HEADING = r"(?m)^#{1,6}[ \t]++(\S[^\n]*)"
_SALVAGE = r"(?m)^(?:title|name|description):[ \t]*+(\S[^\n]*)"
_WORD_LINE = r"(?m)^(?!```)[^\w\n]*+\w[^\n]*"
_MARKERS = r"(?:(?:#{1,6}|[-*+]|\d{1,3}[.)])\s+|>\s*)+"
_SENTENCE_END = r"[.!?]++(?=\s+[^a-z\s]|\s*\Z)|[。\uff01\uff1f]"
_CONFLICT = (r"(?m)^<{7}(?!<)", r"(?m)^={7}[ \r]*$", r"(?m)^>{7}(?!>)")


class HeadTooLarge(CofferError):
    """Title, description and metadata together are longer than any reader accepts."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, chars: int) -> None:
        super().__init__(
            f"title, description and metadata take {chars} characters; {MAX_HEAD_CHARS} is the limit",
            hint="put the text into the body",
            details={"reason": "too_long"},
        )


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as read from its file.

    Attributes:
        path: lane path, as given to `parse`.
        id: the head's id, else derived from the path (see `ulid.derived`).
        title: never empty; see `parse` for where it comes from.
        description: "" when absent.
        actor: user, agent, outside …, or None when absent.
        agent: which agent wrote it, or None.
        session: origin_session_id, or None.
        created_at: aware time, or None.
        updated_at: aware time, or None.
        ref: metadata.ref, or None.
        metadata: the strings below `metadata`, nested keys joined by dots.
        body: the text, one final newline taken off.
        body_offset: where the body begins in `decode(data)`, in characters.
        has_id: the head holds a usable id.
        head_ok: False when a head-like block does not parse; the whole text is the body then.
        conflict: all three kinds of merge markers stand at line starts.
        replaced: bytes that are not UTF-8 were replaced.
    """

    path: str
    id: str
    title: str
    description: str
    actor: str | None
    agent: str | None
    session: str | None
    created_at: datetime | None
    updated_at: datetime | None
    ref: str | None
    metadata: Mapping[str, str]
    body: str
    body_offset: int
    has_id: bool
    head_ok: bool
    conflict: bool
    replaced: bool


def decode(data: bytes) -> str:
    """Bytes of a file to text: no BOM, LF line ends, U+FFFD for what is not UTF-8."""
    return _decode(data)[0]


def normalize(data: bytes) -> bytes:
    """The bytes that are committed: CRLF to LF, as git does for `text eol=lf`."""
    return data.replace(b"\r\n", b"\n")


def parse(path: str, data: bytes) -> Fact:
    """Read a fact file; no bytes make this raise.

    The title is the head's title, name or description, else the first heading of the body, its first sentence, or the
    file's name. Of a repeated key the last value counts, as in PyYAML.
    """
    text, replaced = _decode(data)
    head, start = split(text)
    values = {} if head is None else load(head)
    head_ok = values is not None
    if values is None:
        values, start = {}, 0
    body = text[start:].removesuffix("\n")
    inner = values.get("metadata")
    metadata = dict(_flatten(inner)) if isinstance(inner, dict) else {}
    given = _string(values, "id")
    has_id = bool(ulid.PATTERN.fullmatch(given))
    description = _string(values, "description")
    return Fact(
        path=path,
        id=given if has_id else ulid.derived(path),
        title=_string(values, "title", "name") or _title(path, description, body, "" if head_ok else head or ""),
        description=description,
        actor=metadata.get("actor") or _string(values, "actor") or None,
        agent=metadata.get("agent") or _string(values, "agent") or None,
        session=_string(values, "origin_session_id")
        or _string(metadata, "origin_session_id", "originSessionId")
        or None,
        created_at=_time(_string(values, "created_at", "created", "date")),
        updated_at=_time(_string(values, "updated_at", "updated")),
        ref=metadata.get("ref") or None,
        metadata=metadata,
        body=body,
        body_offset=start,
        has_id=has_id,
        head_ok=head_ok,
        conflict=conflicted(text),
        replaced=replaced,
    )


def render(
    *,
    id: str,  # noqa: A002 - the name of the key
    title: str,
    description: str,
    actor: str,
    agent: str | None,
    session: str | None,
    created_at: datetime,
    updated_at: datetime,
    metadata: Mapping[str, str],
    body: str,
) -> bytes:
    """A new fact file; `parse` gives back every argument.

    CR before LF (or at the very end) of the body becomes LF, lone surrogates become U+FFFD; times without a zone are
    UTC. An empty description is left out; `actor` and `agent` win over the same keys in `metadata`.

    Raises:
        HeadTooLarge: the head would be longer than readers accept.
    """
    owner = {"actor": actor} | ({"agent": agent} if agent else {})
    lines = [entry("id", id), "kind: knowledge", entry("title", title)]
    if description:
        lines.append(entry("description", description))
    lines.append("metadata:")
    lines += [entry(key, value, "  ") for key, value in (owner | {**metadata, **owner}).items()]
    if session:
        lines.append(entry("origin_session_id", session))
    lines += [entry("created_at", _iso(created_at)), entry("updated_at", _iso(updated_at))]
    head = "\n".join(lines)
    if len(head) >= MAX_HEAD_CHARS:
        raise HeadTooLarge(len(head))
    return f"---\n{head}\n---\n{_body_lines(body)}".encode()


def edit(
    data: bytes,
    *,
    title: str | None = None,
    description: str | None = None,
    updated_at: datetime | None = None,
    body: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> bytes:
    """Change what is given and no other byte: keys, order, comments, quoting, dates, BOM and CRLF stay.

    A missing key is added at the head's end. A file without a head gets one only for a title, a description or
    metadata.

    Raises:
        HeadUnreadable: the head does not parse, names the key twice, or has a shape that cannot be edited in place.
    """
    if b"\r" in data and b"\n" not in data:  # classic Mac line ends: there, and back unless a new body came in
        unix = data.replace(b"\r", b"\n")
        unix = edit(unix, title=title, description=description, updated_at=updated_at, body=body, metadata=metadata)
        return unix if body is not None else unix.replace(b"\n", b"\r")
    text = data.decode("utf-8", "surrogateescape")
    bare = text.lstrip("\ufeff")
    bom = text[: len(text) - len(bare)]
    head, start = split(bare)
    eol = "\r\n" if bare[: bare.find("\n")].endswith("\r") else "\n"
    if head is not None:
        opening = bare.index("\n") + 1
        first, fence, rest = bare[:opening], bare[opening + len(head) : start], bare[start:]
    elif title is not None or description is not None or metadata:
        head, first, fence, rest = "", f"---{eol}", f"---{eol}{eol}", bare
    else:
        return data if body is None else (bom + _bodied(body, eol)).encode("utf-8", "surrogateescape")
    scalars = {"title": title, "description": description, "updated_at": _iso(updated_at) if updated_at else None}
    head = edit_head(head, eol, {k: v for k, v in scalars.items() if v is not None}, metadata or {})
    if body is not None:
        fence = fence[: fence.find("\n") + 1] or fence + eol
        rest = _body_lines(body).replace("\n", eol)
    return (bom + first + head + fence + rest).encode("utf-8", "surrogateescape")


def with_id(data: bytes, identifier: str) -> bytes:
    """The same file as a fact of its own: the id in its head, if it has one, becomes another."""
    parsed = parse("", data)
    if not parsed.has_id:
        return data
    return re.sub(rb"(?m)^(id:\s*[\"']?)" + parsed.id.encode(), rb"\g<1>" + identifier.encode(), data, count=1)


def first_sentence(text: str, limit: int = TITLE_CHARS) -> str:
    """A default title: the first line with a word in it, without Markdown markers, its first sentence, cut with `…`.

    "" when no line holds a letter or a digit.
    """
    found = re.search(_WORD_LINE, text)
    line = found.group()[:2000] if found else ""
    line = " ".join(line.split()).replace("**", "")
    line = line[marks.end() :] if (marks := re.match(_MARKERS, line)) else line
    if end := re.search(_SENTENCE_END, line):
        line = line[: end.end()]
    return _cut(line.rstrip(".。") or line, limit)


def conflicted(text: str) -> bool:
    """Whether the text holds all three kinds of merge markers at line starts."""
    return "<<<<<<<" in text and all(re.search(marker, text) for marker in _CONFLICT)


# Text in, text out.


def _decode(data: bytes) -> tuple[str, bool]:
    try:
        text, replaced = data.decode(), False
    except UnicodeDecodeError:
        text, replaced = data.decode("utf-8", "replace"), True
    text = text.lstrip("\ufeff")
    if "\r" in text:
        text = _lines(text) if "\n" in text else text.replace("\r", "\n")
    return text, replaced


def _lines(text: str) -> str:
    """LF line ends; a CR inside a line is text."""
    return re.sub(_LINE_ENDS, "\n", text) if "\r" in text else text


def _body_lines(body: str) -> str:
    """A body as it follows the closing fence: one empty line before, one newline after; nothing when empty."""
    return f"\n{_lines(clean(body))}\n" if body else ""


def _bodied(body: str, eol: str) -> str:
    """A file without a head; an empty head is put before a body that would be taken for one."""
    text = f"{_lines(clean(body))}\n"
    return (text if split(text)[0] is None else f"---\n---\n\n{text}").replace("\n", eol)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    if text[limit - 1] != " " and " " in kept:
        kept = kept[: kept.rindex(" ")]
    return kept.rstrip(" ,;:") + "…"


def _title(path: str, description: str, body: str, odd_head: str) -> str:
    if found := re.search(_SALVAGE, odd_head):
        return _cut(" ".join(found[1].split()), TITLE_CHARS)
    if title := first_sentence(description):
        return title
    heading = re.search(_HEADING, body.partition("```")[0])  # a comment in a code block is no heading
    if heading and (title := first_sentence(re.sub(r"\s#+\s*\Z", "", heading[1]))):
        return title
    return first_sentence(body) or path.rpartition("/")[2].removesuffix(".md") or "untitled"


def _time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace(" +", "+").replace(" -", "-"))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):  # not a time, or one that no other zone can express
        return None
    return moment


def _iso(moment: datetime) -> str:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _flatten(values: Mapping[str, Value], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, str):
            yield prefix + key, value
        elif isinstance(value, list):
            yield prefix + key, ", ".join(item for item in value if isinstance(item, str))
        else:
            yield from _flatten(value, f"{prefix}{key}.")


def _string(values: Mapping[str, Value], *keys: str) -> str:
    """The first of these keys that holds a string with something in it, else ""."""
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""
