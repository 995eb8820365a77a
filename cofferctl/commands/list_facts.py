"""list: the facts there are, without searching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import documents, lanes, secrets
from cofferctl.choices import BadChoice, check
from cofferctl.coffer import FileTimes

if TYPE_CHECKING:
    from collections.abc import Callable

    from cofferctl.coffer import Coffer
    from cofferctl.fact import Fact
    from cofferctl.store import Store

LANES = (*lanes.LANES, "knowledge", "all")
SORTS = ("updated", "created", "title")


@dataclass(frozen=True, slots=True)
class Item:
    """One lane file; `path` and `folder_path` are absolute."""

    id: str
    title: str
    description: str
    path: str
    folder_path: str
    store: str
    lane: str
    actor: str
    created_at: str
    updated_at: str
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """The answer: which stores were looked in, what is in them, and how many facts a limit left out."""

    stores: tuple[str, ...]
    facts: tuple[Item, ...]
    left_out: int
    notices: tuple[str, ...]


def list_facts(
    coffer: Coffer,
    *,
    lane: str = "knowledge",
    limit: int | None = None,
    sort: str = "updated",
    scope: str | None = None,
    store: str | None = None,
) -> Listed:
    """The facts of a lane.

    Raises:
        UsageError: a lane, a sort key or a limit that is none.
    """
    check("--lane", lane, LANES)
    check("--sort", sort, SORTS)
    if limit is not None and limit < 1:
        raise BadChoice("--limit", limit, "a number from 1")
    stores = coffer.readable(scope, store)
    items = [item for found in stores if found.exists for item in _items(found, lanes.expand(lane))]
    items.sort(key=_KEYS[sort], reverse=sort != "title")
    shown = items if limit is None else items[:limit]
    return Listed(tuple(found.name for found in stores), tuple(shown), len(items) - len(shown), tuple(coffer.notices))


_KEYS: dict[str, Callable[[Item], tuple[str, str]]] = {
    "updated": lambda item: (item.updated_at, item.id),
    "created": lambda item: (item.created_at, item.id),
    "title": lambda item: (item.title.casefold(), item.id),
}


def _items(store: Store, wanted: frozenset[str]) -> list[Item]:
    times = FileTimes(store)
    facts = (store.fact(path) for path in store.scan().entries if lanes.lane_of(path) in wanted)
    return [item(store, fact, times) for fact in facts if fact]


def item(store: Store, fact: Fact, times: Callable[[str], float]) -> Item:
    """What a list shows of a fact."""
    path = store.directory / fact.path
    updated = documents.moment(fact, times)
    created = fact.created_at.timestamp() if fact.created_at else updated
    return Item(
        id=fact.id,
        title=secrets.mask(fact.title),
        description=secrets.mask(fact.description),
        path=secrets.mask(str(path)),
        folder_path=str(path.parent),
        store=store.name,
        lane=str(lanes.lane_of(fact.path)),
        actor=fact.actor or "outside",
        created_at=documents.iso(created),
        updated_at=documents.iso(updated),
        ref=fact.ref,
    )
