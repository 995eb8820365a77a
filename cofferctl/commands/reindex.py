"""reindex: bring the search index up to date now, or build it anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import searching

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer


@dataclass(frozen=True, slots=True)
class StoreIndex:
    """One store's index: how many files it stands for."""

    store: str
    files: int
    index: str


@dataclass(frozen=True, slots=True)
class Reindexed:
    """The answer."""

    stores: tuple[StoreIndex, ...]
    notices: tuple[str, ...]


def reindex(coffer: Coffer, *, full: bool = False, scope: str | None = None, store: str | None = None) -> Reindexed:
    """Index what changed in the stores used from here; facts are never touched.

    Args:
        coffer: the memory.
        full: build the index from nothing, even if it is current.
        scope: which stores.
        store: one store by name instead.
    """
    done = []
    for found in coffer.readable(scope, store):
        if found.exists:
            work, index = found.scan(), coffer.index(found)
            searching.refresh(coffer, found, index, work, full=full)
            done.append(StoreIndex(found.name, len(work.entries), index.status(work.fingerprint)))
    return Reindexed(tuple(done), tuple(coffer.notices))
