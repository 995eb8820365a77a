"""import markdown: files that other tools or people wrote, each of them one fact, all of them one commit."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cofferctl import fact, files, head, importing, intake, lanes, ulid
from cofferctl.errors import CofferError, ExitCode
from cofferctl.fact import HeadTooLarge
from cofferctl.importing import NoSuchFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cofferctl.coffer import Coffer
    from cofferctl.fact import Fact
    from cofferctl.importing import Imported

_WANTED = "name a Markdown file, or a directory of them"
_TEXTS = frozenset({"kind", "title", "name", "description", "metadata", "origin_session_id", "actor", "agent"})
_TAKEN = _TEXTS | {"created_at", "created", "date", "updated_at", "updated"}
"""Keys of a head that become a fact's own; all others are kept in its metadata."""
_ACTORS = ("user", "agent")


class BadFile(CofferError):
    """A file is no fact; nothing was imported."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, path: str, why: str, reason: str = "file") -> None:
        super().__init__(
            f"{path}: {why}; nothing was imported",
            hint="mend or move that file; what looks like a secret is taken with --allow-secret",
            details={"reason": reason, "path": path},
        )


def import_markdown(
    coffer: Coffer,
    path: Path,
    *,
    dry_run: bool = False,
    scope: str | None = None,
    store: str | None = None,
    allow_secret: bool = False,
) -> Imported:
    """Store a Markdown file, or every one below a directory, as a fact.

    Args:
        coffer: the memory.
        path: the file or directory.
        dry_run: only check and count.
        scope: which store.
        store: one store by name instead.
        allow_secret: take what looks like a secret.

    Raises:
        NoSuchFile: there is no such file or directory.
        BadFile: a file is too long, no text, or holds what looks like a secret.
        ScopeUnresolved, NoSuchStore, ScopeAndStore, Busy, NotWritable, StoreConflict: as for every write.
    """
    limit = importing.limit(coffer, scope=scope, store=store)
    drafts = list(_drafts(coffer, coffer.config.cwd / path, limit, allow_secret=allow_secret))
    return importing.take(coffer, drafts, dry_run=dry_run, scope=scope, store=store)


def _drafts(coffer: Coffer, path: Path, limit: int, *, allow_secret: bool) -> Iterator[intake.Draft]:
    for name, file in _files(coffer, path):
        data = _read(name, file)
        try:
            draft = _draft(coffer, name, data, file)
            if draft is None:
                coffer.notice(f"{name} was left out: it is empty, or superseded by another fact")
                continue
            intake.check(draft.text, limit)
            if not allow_secret:
                intake.check_secret(draft.text, draft.title, draft.description, *draft.metadata.values())
            draft.render("0" * ulid.LENGTH)  # a head too long for readers is this file's fault
        except (intake.Rejected, HeadTooLarge) as error:
            raise BadFile(name, error.message, error.details["reason"]) from error
        yield draft


def _files(coffer: Coffer, path: Path) -> list[tuple[str, Path]]:
    """(path below the one given, file) of everything to import, in order."""
    try:
        info = path.stat()
    except (OSError, ValueError) as error:
        raise NoSuchFile(path, getattr(error, "strerror", None) or str(error), _WANTED) from error
    if stat.S_ISREG(info.st_mode):
        return [(path.name, path.resolve())]
    if not stat.S_ISDIR(info.st_mode):
        raise NoSuchFile(path, "it is neither a file nor a directory", _WANTED)
    found: list[tuple[str, Path]] = []
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in filter(lanes.is_fact_name, names):
            file = Path(folder, name)
            shown = file.relative_to(path).as_posix()
            if file.is_symlink() or not file.is_file():
                coffer.notice(f"{shown} is no regular file and was left out")
            else:
                found.append((shown, file))
    return sorted(found)


def _read(name: str, file: Path) -> bytes:
    try:
        data = files.read_regular(file)
    except OSError as error:
        raise NoSuchFile(file, error.strerror or str(error), _WANTED) from error
    if data is None:
        raise BadFile(name, "it is over 1 MB", "too_long")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(name, f"line {line} is not UTF-8") from error
    return data


def _draft(coffer: Coffer, name: str, data: bytes, file: Path) -> intake.Draft | None:
    """A file as a fact to be; None when it says nothing, or nothing that holds any more."""
    name = os.fsencode(name).decode("utf-8", "replace")
    parsed = fact.parse(name, data)
    text = intake.clean(parsed.body if parsed.body.strip() else parsed.description)
    if not text.strip() or "superseded_by" in parsed.metadata:
        return None
    who = coffer.who()
    created = parsed.created_at or parsed.updated_at or datetime.fromtimestamp(file.stat().st_mtime, UTC)
    own = parsed.actor in _ACTORS
    draft = intake.Draft(
        text=text,
        title=intake.title_of(text, parsed.title),
        description=intake.description_of(text, parsed.description or None),
        actor=str(parsed.actor) if own else who.actor,
        agent=parsed.agent if own else who.agent,
        session=parsed.session,
        created_at=created,
        metadata={**_kept(parsed, data), "ref": name},
        updated_at=parsed.updated_at,
    )
    return replace(draft, title=" ".join(draft.title.split()))


def _kept(parsed: Fact, data: bytes) -> dict[str, str]:
    """What a head says beyond what a fact has a place for; the old id and ref under names that say so."""
    kept = {key: value for key, value in parsed.metadata.items() if key not in ("actor", "agent")}
    block = fact.split(fact.decode(data))[0] if parsed.head_ok else None
    for key, value in ((head.load(block) if block else None) or {}).items():
        if isinstance(value, list):
            value = ", ".join(item for item in value if isinstance(item, str))  # noqa: PLW2901 - flattened
        if key not in _TAKEN and isinstance(value, str) and value:
            kept.setdefault(key, value)
    for key in ("id", "ref"):
        if old := kept.pop(key, None):
            kept[f"original_{key}"] = old
    return kept
