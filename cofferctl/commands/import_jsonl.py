"""import jsonl: many facts from a file, one commit; importing it again changes nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cofferctl import files, intake, lanes, secrets, ulid, worktree
from cofferctl.errors import CofferError, ExitCode
from cofferctl.fact import HeadTooLarge
from cofferctl.inbox import Inbox
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cofferctl.coffer import Coffer
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree

MAX_FILE_BYTES = 1 << 30
REPORT_EVERY = 200
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


class NoSuchFile(CofferError):
    """The file to import cannot be read."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"cannot read {path}: {why}", hint="name a JSON Lines file: one object a line")


@dataclass(frozen=True, slots=True)
class Imported:
    """The answer: how many facts are new, how many were there already."""

    store: str
    imported: int
    duplicates: int
    commit: str | None
    operation: str | None
    dry_run: bool
    notices: tuple[str, ...]


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
    there = coffer.readable(scope or "project", None) if store is None else coffer.readable(None, store)
    limit = coffer.max_fact_chars(there[0] if there else None)
    lines = _lines(coffer.config.cwd / path, content)
    drafts = list(_drafts(coffer, path, lines, limit, allow_secret=allow_secret))
    if dry_run:
        known = _Known(there[0], there[0].scan()) if there else _Known(None, worktree.Worktree())
        new = [draft for draft in drafts if known.is_new(draft)]
        name = there[0].name if there else "project"
        return Imported(name, len(new), len(drafts) - len(new), None, None, dry_run=True, notices=())
    target = coffer.writable(scope, store)
    operation = coffer.new_id()

    def plan(work: Worktree) -> Change[Imported]:
        return _plan(coffer, target, work, drafts, operation)

    receipt = target.write(plan, coffer.author(coffer.who()))
    coffer.written(target)
    return replace(
        receipt.result,
        commit=receipt.commit,
        operation=operation if receipt.commit else None,
        notices=(*coffer.notices, *receipt.notices),
    )


def _plan(
    coffer: Coffer, target: Store, work: Worktree, drafts: list[intake.Draft], operation: str
) -> Change[Imported]:
    known, inbox = _Known(target, work), Inbox(target.directory)
    contents: dict[str, bytes | None] = {}
    for number, draft in enumerate(drafts):
        if coffer.progress and number % REPORT_EVERY == 0:
            coffer.progress("importing", number, len(drafts))
        if known.is_new(draft):
            identifier = ulid.new(max(0, int(draft.created_at.timestamp() * 1000)))
            path = inbox.place(secrets.mask(draft.title), identifier, f"{draft.created_at:%Y-%m}")
            contents[path] = draft.render(identifier)
    if coffer.progress:
        coffer.progress("importing", len(drafts), len(drafts))
    who = coffer.who()
    record = who.record(
        "memory_imported", f"import: {len(contents)} fact{'s' * (len(contents) != 1)}", operation=operation
    )
    result = Imported(target.name, len(contents), len(drafts) - len(contents), None, None, dry_run=False, notices=())
    return Change(contents, record, result)


class _Known:
    """What is in the inbox already: a text is known under the same `ref`, or under any when it has none."""

    def __init__(self, store: Store | None, work: Worktree) -> None:
        self._store = store
        self._paths: dict[bytes, list[str]] = {}
        for path, entry in work.entries.items():
            if lanes.lane_of(path) == "inbox":
                self._paths.setdefault(entry.body, []).append(path)
        self._taken: set[tuple[bytes, str | None]] = set()

    def is_new(self, draft: intake.Draft) -> bool:
        """Whether a draft says something new; it is known from then on."""
        body, ref = worktree.body_hash(draft.text), draft.metadata.get("ref")
        if (body, ref) in self._taken or (ref is None and any(taken[0] == body for taken in self._taken)):
            return False
        for path in self._paths.get(body, ()):
            there = self._store.fact(path) if self._store else None
            if there and (ref is None or there.ref == ref):
                return False
        self._taken.add((body, ref))
        return True


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
        raise NoSuchFile(path, error.strerror or str(error)) from error
    if data is None:
        raise NoSuchFile(path, "there is no such file" if not path.exists() else "it is no regular file")
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
