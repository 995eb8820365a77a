"""stores, the part that changes one: its label, its settings, its lanes, its being there at all."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cofferctl import config, events, fact, files, intake, lanes, secrets
from cofferctl.choices import check
from cofferctl.commands.settings import DamagedSettings, SettingValue
from cofferctl.commands.stores import IGNORED, STORE_SETTINGS, NotConfirmed, existing
from cofferctl.errors import UsageError
from cofferctl.store import GLOBAL_ID
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cofferctl.coffer import Coffer
    from cofferctl.store import Store
    from cofferctl.transaction import Receipt
    from cofferctl.worktree import Worktree

LANES = (*lanes.LANES, "knowledge", "all")
LABEL_LENGTH = 80
_TOML = "store.toml"


class NoSuchStoreSetting(UsageError):
    """A store has no setting of that name."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"a store has no setting {key}",
            hint=f"it has {', '.join(STORE_SETTINGS)}; `cofferctl config` knows those of the machine",
        )


@dataclass(frozen=True, slots=True)
class Labelled:
    """The answer of `stores label`; `label` is None when it was taken away."""

    store: str
    label: str | None
    commit: str | None
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The answer of `stores config STORE`; `ignored` are keys that have no meaning in a store any more."""

    store: str
    settings: tuple[SettingValue, ...]
    ignored: tuple[str, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoreSetting:
    """One setting of a store; `source` is `default` or the file it is set in, `commit` the one that set it."""

    store: str
    key: str
    value: Any
    source: str
    commit: str | None
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cleared:
    """The answer of `stores clear`: how many files of which lane went."""

    store: str
    lane: str
    cleared: int
    commit: str | None
    operation: str | None
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deleted:
    """The answer of `stores delete`: what there is no more."""

    store: str
    store_dir: str
    operation: str
    notices: tuple[str, ...]


def label(coffer: Coffer, name: str, text: str) -> Labelled:
    """Give a store a name for people; an empty text takes it away.

    Raises:
        NoSuchStore: there is none of that name.
        Rejected: it is too long, or looks like a secret.
        DamagedSettings: store.toml is not valid.
    """
    target = existing(coffer, name)
    wanted = " ".join(text.split())
    if wanted:
        intake.check(wanted, LABEL_LENGTH)
        intake.check_secret(wanted)

    def changed(before: str) -> str:
        return config.assign(before, "label", wanted) if wanted else config.unassign(before, "label")

    receipt = _change_settings(coffer, target, changed, f"label: {wanted or 'none'}")
    return Labelled(target.name, wanted or None, receipt.commit, (*coffer.notices, *receipt.notices))


def store_settings(coffer: Coffer, name: str) -> StoreSettings:
    """Every setting of a store as it counts there.

    Raises:
        NoSuchStore: there is none of that name.
    """
    target = existing(coffer, name)
    ignored = tuple(sorted(key for key in target.settings() if key.startswith(IGNORED)))
    values = tuple(_value(coffer, target, key) for key in STORE_SETTINGS)
    return StoreSettings(target.name, values, ignored, (*coffer.notices, *map(_is_ignored, ignored)))


def store_setting(coffer: Coffer, name: str, key: str) -> StoreSetting:
    """One setting of a store.

    Raises:
        NoSuchStore, NoSuchStoreSetting: there is none of that name.
    """
    target = existing(coffer, name)
    _check_key(key)
    if key.startswith(IGNORED):
        value = target.settings().get(key)
        masked = secrets.mask(str(value)) if value is not None else None
        source = "default" if value is None else str(target.directory / _TOML)
        return StoreSetting(target.name, key, masked, source, None, (*coffer.notices, _is_ignored(key)))
    found = _value(coffer, target, key)
    return StoreSetting(target.name, key, found.value, found.source, None, tuple(coffer.notices))


def set_store_setting(coffer: Coffer, name: str, key: str, text: str) -> StoreSetting:
    """Set a setting of a store; whatever else stands in its store.toml stays as it is.

    Raises:
        NoSuchStore, NoSuchStoreSetting: there is none of that name.
        BadSetting: it cannot have that value.
        Rejected: the value looks like a secret.
        DamagedSettings: store.toml is not valid.
    """
    target = existing(coffer, name)
    _check_key(key)
    ignored = key.startswith(IGNORED)
    intake.check_secret(f"{key} = {text}")
    value = text if ignored else config.parsed(key, text)
    receipt = _change_settings(coffer, target, lambda before: config.assign(before, key, value), f"config: {key}")
    notices = (*coffer.notices, *receipt.notices, *([_is_ignored(key)] if ignored else []))
    return StoreSetting(target.name, key, value, str(target.directory / _TOML), receipt.commit, notices)


def clear(coffer: Coffer, name: str, *, yes: bool, lane: str = "knowledge") -> Cleared:
    """Delete every file of a lane, in one commit that `undo` takes back.

    Args:
        coffer: the memory.
        name: the store.
        yes: that this is meant.
        lane: a lane, or knowledge (inbox and topics), or all.

    Raises:
        NoSuchStore: there is none of that name.
        BadChoice: the lane is none.
        NotConfirmed: without `yes`.
    """
    target = existing(coffer, name)
    check("--lane", lane, LANES)
    if not yes:
        raise NotConfirmed(f"clear {lane} of {target.name}")
    wanted, who, operation = lanes.expand(lane), coffer.who(), coffer.new_id()

    def plan(work: Worktree) -> Change[Cleared]:
        paths = [path for path in work.entries if lanes.lane_of(path) in wanted]
        left = [path for path in sorted(work.odd) if lanes.lane_of(path) in wanted]
        notices = tuple(f"{path} stays ({work.odd[path]})" for path in left)
        subject = f"clear: {len(paths)} file{'s' * (len(paths) != 1)} of {lane}"
        record = who.record("memory_cleared", subject, operation=operation)
        result = Cleared(target.name, lane, len(paths), None, None, notices)
        return Change(dict.fromkeys(paths), record, result)

    receipt = target.write(plan, coffer.author(who))
    return replace(
        receipt.result,
        commit=receipt.commit,
        operation=operation if receipt.commit else None,
        notices=(*coffer.notices, *receipt.result.notices, *receipt.notices),
    )


def delete(coffer: Coffer, name: str, *, yes: bool) -> Deleted:
    """Delete a store with its history and its search index; projects bound to it begin anew.

    The directory is first renamed, which is one step: a crash leaves the store, or a leftover that the next delete
    removes.

    Raises:
        NoSuchStore: there is none of that name.
        NotConfirmed: without `yes`.
        Busy: another process is writing it.
        NotWritable: the disk refuses.
    """
    target = existing(coffer, name)
    if not yes:
        raise NotConfirmed(f"delete {target.name} with its history")
    who, operation = coffer.who(), coffer.new_id()
    memory = coffer.config.home / "memory"
    index = coffer.index_directory(target)
    aside = memory / f".deleted-{operation}"
    try:
        with files.lock(memory / ".creating"):
            for leftover in memory.glob(".deleted-*"):
                shutil.rmtree(leftover, ignore_errors=True)
            _set_aside(target, aside)
    except OSError as error:
        raise files.NotWritable(error.filename or target.directory, error) from error
    by = {"actor": who.actor, "agent": who.agent, "session": who.session, "operation": operation}
    event = {"time": coffer.clock().isoformat(timespec="seconds"), "event": "store_deleted", "store": target.name, **by}
    events.record(coffer.config.home, event)
    shutil.rmtree(aside, ignore_errors=True)
    if not index.is_relative_to(target.directory):
        shutil.rmtree(index, ignore_errors=True)
    left = (f"{aside} could not be removed whole; the next delete tries again",) if aside.exists() else ()
    return Deleted(target.name, str(target.directory), operation, (*coffer.notices, *left))


def _set_aside(target: Store, aside: Path) -> None:
    """Rename a store's directory while nobody writes to it; a store that no lock can be made in has no writer."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(files.NotWritable):
            held.enter_context(files.lock(target.private / "lock"))
        target.directory.rename(aside)
        files.fsync_dir(target.directory.parent)
        if target.id != GLOBAL_ID:
            files.fsync_dir(aside.parent)


def _change_settings(coffer: Coffer, target: Store, changed: Callable[[str], str], subject: str) -> Receipt[None]:
    who, operation = coffer.who(), coffer.new_id()
    path = target.directory / _TOML
    record = who.record("memory_updated", subject, operation=operation)

    def plan(work: Worktree) -> Change[None]:  # noqa: ARG001
        wrong = config.load(path)[1]
        before = files.read_regular(path)
        if wrong or (before is None and path.exists()):
            raise DamagedSettings(wrong or f"{path} is no regular file")
        text = fact.normalize(before or b"").decode()
        after = changed(text)
        return Change({_TOML: after.encode()} if after != text else {}, record, None)

    return target.write(plan, coffer.author(who))


def _value(coffer: Coffer, target: Store, key: str) -> SettingValue:
    value, number = config.effective(key, target.settings(), coffer.settings)
    places = (target.directory / _TOML, coffer.config.home / "config.toml")
    return SettingValue(key, value, "default" if number is None else str(places[number]))


def _check_key(key: str) -> None:
    if key not in STORE_SETTINGS and not key.startswith(IGNORED):
        raise NoSuchStoreSetting(key)


def _is_ignored(key: str) -> str:
    return f"{key} is ignored: embedding settings are those of the machine, not of a store"
