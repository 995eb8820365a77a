"""import jsonl: many facts from a file, one commit; importing it again changes nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cofferctl import files, importing, intake, ulid
from cofferctl.errors import CofferError, ExitCode
from cofferctl.fact import HeadTooLarge
from cofferctl.importing import NoSuchFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cofferctl.coffer import Coffer
    from cofferctl.importing import Imported

MAX_FILE_BYTES = 1 << 30
_WANTED = "name a JSON Lines file: one object a line"
_TEXTS = ("title", "description", "ref", "actor", "session")


class BadLine(CofferError):
    """A line of the file is no fact; nothing of the file was imported."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, path: str, number: int, why: str, reason: str = "line") -> None:
        super().__init__(
            f"{path}, line {number}: {why}; nothing was imported",
            hint='a line looks like {"text": "…", "title": "…", "created_at": "2026-06-09T10:00:00+00:00", "ref": "…"}',
            details={"reason": reason, "line": number},
        )


def import_jsonl(
    coffer: Coffer,
    path: Path,
    *,
    dry_run: bool = False,
    scope: str | None = None,
    store: str | None = None,
    allow_secret: bool = False,
    content: bytes | None = None,
) -> Imported:
    """Store every object of a JSON Lines file as a fact.

    Args:
        coffer: the memory.
        path: the file, or what to call it in messages when its content is given.
        dry_run: only check and count.
        scope: which store.
        store: one store by name instead.
        allow_secret: take what looks like a secret.
        content: what was read already, as from standard input.

    Raises:
        NoSuchFile: it cannot be read.
        BadLine: a line is no fact, or too long, or holds what looks like a secret.
        ScopeUnresolved, NoSuchStore, ScopeAndStore, Busy, NotWritable, StoreConflict: as for every write.
    """
    limit = importing.limit(coffer, scope=scope, store=store)
    lines = _lines(coffer.config.cwd / path, content)
    drafts = list(_drafts(coffer, path, lines, limit, allow_secret=allow_secret))
    return importing.take(coffer, drafts, dry_run=dry_run, scope=scope, store=store)


def _drafts(coffer: Coffer, path: Path, lines: list[str], limit: int, *, allow_secret: bool) -> Iterator[intake.Draft]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _draft(coffer, line, limit, allow_secret=allow_secret)
        except (intake.Rejected, HeadTooLarge) as error:
            raise BadLine(str(path), number, error.message, error.details["reason"]) from error
        except (ValueError, RecursionError) as error:
            raise BadLine(str(path), number, str(error)) from error


def _lines(path: Path, content: bytes | None) -> list[str]:
    try:
        data = files.read_regular(path.resolve(), MAX_FILE_BYTES) if content is None else content
    except OSError as error:
        raise NoSuchFile(path, error.strerror or str(error), _WANTED) from error
    if data is None:
        raise NoSuchFile(path, "there is no such file" if not path.exists() else "it is no regular file", _WANTED)
    try:
        return data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadLine(str(path), line, "it is not UTF-8") from error


def _draft(coffer: Coffer, line: str, limit: int, *, allow_secret: bool) -> intake.Draft:
    item = json.loads(line)
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise ValueError('it is not an object with a "text"')  # noqa: TRY004 - a line's fault, not a caller's
    given: dict[str, str] = {}
    for key in _TEXTS:
        value = item.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (str, int))):
            raise ValueError(f'"{key}" is not a text')
        if value is not None:
            given[key] = str(value)
    text = intake.clean(item["text"])
    intake.check(text, limit)
    if not allow_secret:
        intake.check_secret(text, given.get("title", ""), given.get("description", ""))
    who = coffer.who()
    draft = intake.Draft(
        text=text,
        title=intake.title_of(text, given.get("title")),
        description=intake.description_of(text, given.get("description")),
        actor=_actor(given.get("actor"), who.actor),
        agent=who.agent,
        session=given.get("session"),
        created_at=_time(coffer, item.get("created_at")),
        metadata={"ref": given["ref"]} if given.get("ref") else {},
    )
    draft.render("0" * ulid.LENGTH)  # a head too long for readers is this line's fault
    return draft


def _actor(given: str | None, default: str) -> str:
    if given not in (None, "user", "agent"):
        raise ValueError('"actor" is user or agent')
    return given or default


def _time(coffer: Coffer, given: Any) -> datetime:
    if given is None:
        return coffer.clock()
    with suppress(ValueError, TypeError, OverflowError):
        moment = datetime.fromisoformat(given)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)  # years 1 and 9999 have hours that no other zone can express
        return moment
    raise ValueError('"created_at" is not an ISO time')
