"""stores: which memories there are, and which project uses which."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cofferctl import config, lanes, secrets, store
from cofferctl.errors import CofferError, UsageError
from cofferctl.store import NoSuchStore

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer
    from cofferctl.store import Store

STORE_SETTINGS = ("default_mode", "max_fact_chars", "retrieval_modes")
IGNORED = "embedding_"
"""How keys begin that once were settings of a store."""


class NotConfirmed(UsageError):
    """Something that asks first was not confirmed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: not confirmed, nothing was changed", hint="confirm with --yes")


@dataclass(frozen=True, slots=True)
class StoreItem:
    """One store; `fact_count` counts knowledge/ only, `disk_bytes` is all of it with its history."""

    store: str
    scope: str
    label: str
    project_root: str | None
    store_dir: str
    fact_count: int
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class StoreList:
    """The answer of `stores list`."""

    stores: tuple[StoreItem, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoreDetails:
    """The answer of `stores show`."""

    store: str
    scope: str
    label: str
    project_root: str | None
    store_dir: str
    fact_count: int
    disk_bytes: int
    project_roots: tuple[str, ...]
    lanes: dict[str, int]
    head: str | None
    settings: dict[str, Any]
    ignored_settings: tuple[str, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Linked:
    """The answer of `stores link`."""

    store: str
    project_root: str
    previous: str | None
    notices: tuple[str, ...]


def list_stores(coffer: Coffer) -> StoreList:
    """Every store on this machine."""
    config.check_home(coffer.config.home)
    items = tuple(_item(coffer, found) for found in store.existing(coffer.config.home))
    return StoreList(items, tuple(coffer.notices))


def show_store(coffer: Coffer, name: str) -> StoreDetails:
    """One store.

    Raises:
        NoSuchStore: there is none of that name.
    """
    found = existing(coffer, name)
    item = _item(coffer, found)
    counts = dict.fromkeys(lanes.LANES, 0)
    for path in found.scan().entries:
        lane = lanes.lane_of(path)
        if lane:
            counts[lane] += 1
    own = found.settings()
    return StoreDetails(
        store=item.store,
        scope=item.scope,
        label=item.label,
        project_root=item.project_root,
        store_dir=item.store_dir,
        fact_count=item.fact_count,
        disk_bytes=item.disk_bytes,
        project_roots=tuple(map(str, coffer.roots(found))),
        lanes={str(lane): count for lane, count in counts.items()},
        head=found.head(),
        settings={key: coffer.setting(key, found) for key in STORE_SETTINGS},
        ignored_settings=tuple(sorted(key for key in own if key.startswith(IGNORED))),
        notices=tuple(coffer.notices),
    )


def link(coffer: Coffer, name: str, *, yes: bool) -> Linked:
    """Let the project here use an existing store; the one it leaves stays as it is.

    Raises:
        NoSuchStore: there is no store of that name, or it is the global one.
        ScopeUnresolved: there is no project here.
        NotConfirmed: without `yes`.
    """
    target = existing(coffer, name)
    if target.id == store.GLOBAL_ID:
        raise NoSuchStore(name)
    previous = coffer.project_store()
    if not yes:
        raise NotConfirmed(f"link {coffer.place.project_root} to {target.name}")
    linked = coffer.resolver.link(coffer.place, target.id)
    return Linked(
        store=target.name,
        project_root=str(linked.project_root),
        previous=previous.name if previous and previous.id != target.id else None,
        notices=linked.notices,
    )


def existing(coffer: Coffer, name: str) -> Store:
    """A store by its name.

    Raises:
        NoSuchStore: there is none of that name.
    """
    found = coffer.named(name)
    if not found.exists:
        raise NoSuchStore(name)
    return found


def _item(coffer: Coffer, found: Store) -> StoreItem:
    roots = coffer.roots(found)
    root = next((path for path in reversed(roots) if path.is_dir()), roots[-1] if roots else None)
    label = None
    try:
        label = found.settings().get("label")
    except CofferError as error:
        coffer.notice(error.message)
    named = secrets.mask(label) if isinstance(label, str) and label.strip() else (root.name if root else found.name)
    paths = found.scan().entries
    return StoreItem(
        store=found.name,
        scope=found.scope,
        label=named,
        project_root=str(root) if root else None,
        store_dir=str(found.directory),
        fact_count=sum(1 for path in paths if lanes.lane_of(path) in lanes.KNOWLEDGE),
        disk_bytes=_disk_bytes(found.directory),
    )


def _disk_bytes(directory: Path) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except OSError:
                continue
    return total
