"""Finding one fact by what a user calls it: its id, the beginning of its id, or its lane path; never by likeness."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import documents, fact, lanes, ulid
from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cofferctl.fact import Fact
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree

SHORTEST_PREFIX = 6
_PREFIX = re.compile(rf"[{ulid.ALPHABET}]{{{SHORTEST_PREFIX},{ulid.LENGTH}}}")


class NoSuchFact(CofferError):
    """Nothing in the stores looked at is called so."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, selector: str) -> None:
        short = 0 < len(selector) < SHORTEST_PREFIX
        super().__init__(
            f"no such fact: {selector}",
            hint=f"an id is given by at least {SHORTEST_PREFIX} characters" if short else "`cofferctl list` shows ids",
        )


class Ambiguous(CofferError):
    """More than one fact is called so."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, selector: str, found: Sequence[str]) -> None:
        super().__init__(
            f"{selector} is the beginning of several facts' ids, or the id of several files",
            hint=f"give more of it, or a path: {', '.join(found[:5])}",
            details={"paths": list(found)},
        )


@dataclass(frozen=True, slots=True)
class Selected:
    """A fact and where it is; `entry` is the id of the one journal entry meant, None for the whole file."""

    store: Store
    fact: Fact
    entry: str | None = None


def select(stores: Sequence[Store], selector: str) -> Selected:
    """The one fact a selector names.

    Raises:
        NoSuchFact, Ambiguous: it names none, or several.
        PathRefused: it is a path that leads out of the lanes.
    """
    stores, selector = in_scope(stores, selector)
    if _PREFIX.fullmatch(selector.upper()):
        return _by_id(stores, selector.upper())
    if "/" in selector or selector.endswith(".md"):
        return _by_path(stores, lanes.checked_path(selector), selector)
    raise NoSuchFact(selector)


def in_scope(stores: Sequence[Store], selector: str) -> tuple[Sequence[Store], str]:
    """The stores that `<scope>:<path>`, as answers name their source, can mean, and the path."""
    scope, colon, path = selector.partition(":")
    if colon and scope in ("project", "global"):
        return [store for store in stores if store.scope == scope], path
    return stores, selector


def select_part(stores: Sequence[Store], selector: str) -> Selected:
    """The same, but an id may also be that of one entry of a journal.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: as `select`.
    """
    try:
        return select(stores, selector)
    except NoSuchFact:
        found = _entry(stores, selector)
        if found is None:
            raise
        return found


def _entry(stores: Sequence[Store], selector: str) -> Selected | None:
    wanted = selector.upper()
    if not _PREFIX.fullmatch(wanted):
        return None
    for store in stores:
        for path in store.scan().entries:
            data = store.read(path) if lanes.lane_of(path) == "journal" else None
            for document in documents.of(path, data, lambda _: 0.0) if data else ():
                if document.id.startswith(wanted):
                    return Selected(store, fact.parse(path, data or b""), document.id)
    return None


def path_of(work: Worktree, selected: Selected) -> str:
    """Where a selected fact is now; somebody may have moved its file since.

    Raises:
        NoSuchFact: it is gone.
    """
    path = selected.fact.path
    if path in work.entries:
        return path
    wanted = selected.fact.id.encode()
    found = [other for other, entry in work.entries.items() if entry.id == wanted]
    if len(found) != 1:
        raise NoSuchFact(path)
    return found[0]


def _by_path(stores: Sequence[Store], path: str, selector: str) -> Selected:
    for store in stores:
        found = store.fact(path) if store.exists else None
        if found:
            return Selected(store, found)
    raise NoSuchFact(selector)


def _by_id(stores: Sequence[Store], prefix: str) -> Selected:
    wanted = prefix.encode()
    found = [
        (store, path) for store in stores for path, entry in store.scan().entries.items() if entry.id.startswith(wanted)
    ]
    if len(found) > 1:
        raise Ambiguous(prefix, [f"{store.scope}:{path}" for store, path in found])
    selected = found[0][0].fact(found[0][1]) if found else None
    if selected is None:
        raise NoSuchFact(prefix)
    return Selected(found[0][0], selected)
