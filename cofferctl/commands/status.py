"""status: how the stores used from here are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import lanes
from cofferctl.errors import CofferError

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """One store: facts in knowledge/, the search index (current, behind, missing), files not committed yet."""

    store: str
    store_dir: str
    facts: int
    index: str
    uncommitted: int
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """The answer."""

    home: str
    stores: tuple[StoreStatus, ...]
    notices: tuple[str, ...]


def status(coffer: Coffer, *, scope: str | None = None, store: str | None = None) -> Status:
    """Look at the stores used from here; nothing is changed, not even an index."""
    stores = [found for found in coffer.readable(scope, store) if found.exists]
    return Status(str(coffer.config.home), tuple(_of(coffer, found) for found in stores), tuple(coffer.notices))


def _of(coffer: Coffer, store: Store) -> StoreStatus:
    try:
        pending = store.pending()
    except (CofferError, OSError, KeyError) as error:
        return _unreadable(coffer, store, error)
    work = pending.work
    notices = [f"{path}: {why}" for path, why in sorted(work.odd.items())]
    notices += [f"{directory}: cannot be listed" for directory in work.unreadable]
    notices += pending.notices
    if pending.unfinished:
        notices.append(f"the store is in the middle of {pending.unfinished}: nothing is committed until that ends")
    return _status(coffer, store, work, len(pending.contents) + len(pending.deleted), notices)


def _unreadable(coffer: Coffer, store: Store, error: Exception) -> StoreStatus:
    """A store whose files can be read, but not its history."""
    return _status(coffer, store, store.scan(), 0, [f"its history cannot be read ({error})"])


def _status(coffer: Coffer, store: Store, work: Worktree, uncommitted: int, notices: list[str]) -> StoreStatus:
    return StoreStatus(
        store=store.name,
        store_dir=str(store.directory),
        facts=sum(1 for path in work.entries if lanes.lane_of(path) in lanes.KNOWLEDGE),
        index=coffer.index(store).status(work.fingerprint),
        uncommitted=uncommitted,
        notices=tuple(notices),
    )
