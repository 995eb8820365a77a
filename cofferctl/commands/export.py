"""export: facts for other programs as JSON Lines, or the lane files themselves."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cofferctl import documents, fact, files, lanes, secrets
from cofferctl.choices import check
from cofferctl.coffer import FileTimes
from cofferctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from cofferctl.coffer import Coffer
    from cofferctl.store import Store

FORMATS = ("jsonl", "markdown")
LANES = (*lanes.LANES, "knowledge", "all")
_ACTORS = ("user", "agent")


class OutputInUse(UsageError):
    """The place to export to is not free."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}; nothing was written", hint="name a new one with --output")


class OutputMissing(UsageError):
    """Files were to be exported to nowhere."""

    def __init__(self) -> None:
        super().__init__("markdown is exported into a directory", hint="name a new or empty one with --output DIR")


@dataclass(frozen=True, slots=True)
class Exported:
    """The answer.

    Attributes:
        format: jsonl or markdown.
        stores: what was exported.
        output: the file or directory written, None for the standard output.
        exported: facts or files.
        masked: how many of them held what looks like a secret.
        facts: the facts, when they go to the standard output.
    """

    format: str
    stores: tuple[str, ...]
    output: str | None
    exported: int
    masked: int
    notices: tuple[str, ...]
    facts: tuple[dict[str, Any], ...] | None = None


def export(
    coffer: Coffer,
    *,
    format: str = "jsonl",  # noqa: A002 - the name of the option
    output: Path | None = None,
    lane: str | None = None,
    reveal: bool = False,
    scope: str | None = None,
    store: str | None = None,
) -> Exported:
    """Give out what is in the stores; nothing in them is changed.

    Args:
        coffer: the memory.
        format: jsonl (importable) or markdown (the lane files, byte for byte).
        output: a new file for jsonl, a new or empty directory for markdown.
        lane: one lane, knowledge or all; default: knowledge for jsonl, all for markdown.
        reveal: do not mask secrets.
        scope: which stores.
        store: one store by name instead.

    Raises:
        BadChoice: the format or lane is none.
        OutputMissing, OutputInUse: there is no place to write to.
        NotWritable: the disk refuses.
    """
    check("--format", format, FORMATS)
    lane = lane or ("knowledge" if format == "jsonl" else "all")
    check("--lane", lane, LANES)
    stores = coffer.existing(scope, store)
    target = coffer.config.cwd / output if output else None
    give = _Masking(reveal=reveal)
    try:
        if format == "markdown":
            flat = store is not None or scope in ("project", "global")
            return _markdown(coffer, stores, lanes.expand(lane), target, give, flat=flat)
        return _jsonl(coffer, stores, lanes.expand(lane), target, give)
    except OSError as error:
        raise files.NotWritable(error.filename or str(target), error) from error


class _Masking:
    """Masks texts, and counts the facts in which there was something to mask."""

    def __init__(self, *, reveal: bool) -> None:
        self._reveal = reveal
        self._now = False
        self.count = 0

    def text(self, text: str) -> str:
        masked = text if self._reveal else secrets.mask(text)
        self._now = self._now or masked != text
        return masked

    def next(self) -> None:
        """One fact or file is done."""
        self.count += self._now
        self._now = False

    def notice(self, noun: str) -> tuple[str, ...]:
        return (f"secrets were masked in {self.count} {noun}; --reveal gives them out",) if self.count else ()


def _lane_files(coffer: Coffer, store: Store, wanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    work = store.scan()
    for path, why in sorted(work.odd.items()):
        if lanes.lane_of(path) in wanted:
            coffer.notice(f"{store.name}:{path} was left out ({why})")
    for path in sorted(path for path in work.entries if lanes.lane_of(path) in wanted):
        data = store.read(path)
        if data is not None:
            yield path, data


def _jsonl(
    coffer: Coffer, stores: Sequence[Store], wanted: frozenset[str], target: Path | None, give: _Masking
) -> Exported:
    if target is not None and os.path.lexists(target):
        raise OutputInUse(target, "exists")
    facts: list[dict[str, Any]] = []
    for store in stores:
        times = FileTimes(store)
        for path, data in _lane_files(coffer, store, wanted):
            facts.append(_object(store, path, data, times, give))
            give.next()
    if target is not None:
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in facts)
        files.write_new(target, lines.encode())
    return Exported(
        format="jsonl",
        stores=tuple(store.name for store in stores),
        output=str(target) if target else None,
        exported=len(facts),
        masked=give.count,
        notices=(*coffer.notices, *give.notice("facts")),
        facts=None if target else tuple(facts),
    )


def _object(store: Store, path: str, data: bytes, times: FileTimes, give: _Masking) -> dict[str, Any]:
    """One fact as `import jsonl` takes it; who is neither user nor agent is nobody there."""
    parsed = fact.parse(path, data)
    updated = documents.moment(parsed, times)
    text = parsed.body if parsed.body.strip() else parsed.description or parsed.title
    return {
        "id": parsed.id,
        "text": give.text(text) + ("\n" if text.endswith("\n") else ""),  # importing takes one final newline off
        "title": give.text(parsed.title),
        "description": give.text(parsed.description),
        "created_at": parsed.created_at.isoformat() if parsed.created_at else documents.iso(updated),
        "updated_at": parsed.updated_at.isoformat() if parsed.updated_at else documents.iso(updated),
        "actor": parsed.actor if parsed.actor in _ACTORS else None,
        "agent": parsed.agent,
        "session": parsed.session,
        "ref": give.text(parsed.ref) if parsed.ref else None,
        "scope": store.scope,
        "store": store.name,
        "path": give.text(path),
        "lane": lanes.lane_of(path),
        "metadata": {key: give.text(value) for key, value in parsed.metadata.items()},
    }


def _markdown(
    coffer: Coffer,
    stores: Sequence[Store],
    wanted: frozenset[str],
    target: Path | None,
    give: _Masking,
    *,
    flat: bool,
) -> Exported:
    if target is None:
        raise OutputMissing
    if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
        raise OutputInUse(target, "is not an empty directory")
    files.make_private_dirs(target)
    count = 0
    for store in stores:
        root = target if flat else target / store.scope
        for path, data in _lane_files(coffer, store, wanted):
            place = root / give.text(path)
            files.make_private_dirs(place.parent)
            files.write_new(place, _given(data, give.text), sync=False)
            give.next()
            count += 1
    return Exported(
        format="markdown",
        stores=tuple(store.name for store in stores),
        output=str(target),
        exported=count,
        masked=give.count,
        notices=(*coffer.notices, *give.notice("files")),
    )


def _given(data: bytes, mask: Callable[[str], str]) -> bytes:
    """A file's bytes, the same but for what was masked."""
    text = data.decode("utf-8", "surrogateescape")
    masked = mask(text)
    return data if masked == text else masked.encode("utf-8", "surrogateescape")
