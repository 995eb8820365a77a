"""What the stores stand on: the home directory, settings, bindings, git, leftovers of commands that died."""

from __future__ import annotations

import os
import shutil
import stat
from shlex import quote
from typing import TYPE_CHECKING, Any

from cofferctl import bindings, config, events, files, store
from cofferctl.checks.finding import FIX, Finding, Patient, some
from cofferctl.history import identity, programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from cofferctl.checks.finding import Level
    from cofferctl.coffer import Coffer

_OTHERS = 0o077


def optional_parts(coffer: Coffer) -> Iterator[Finding]:
    """What the memory can do without."""
    if not programs.git():
        message = "there is no git program; everything works, but large stores are slower and nothing is packed"
        yield _finding("git_program", "note", message, fix="install git")
    if identity.person(coffer.config.git_configs) == identity.FALLBACK:
        message = f"git has no name for you; your commits say {identity.FALLBACK}"
        yield _finding("identity", "note", message, fix="git config --global user.name NAME (and user.email)")
    yield _finding("vectors", "note", "search by meaning is not set up; facts are found by their words")


def settings(coffer: Coffer) -> Iterator[Finding]:
    """config.toml."""
    path = coffer.config.home / "config.toml"
    found, wrong = config.load(path)
    if wrong:
        yield _finding("settings", "warning", wrong, str(path), "mend the file, or move it away")
    for key in _bad_values(found):
        message = f"{key} has a value it cannot have, which is ignored"
        yield _finding("settings", "warning", message, str(path), f"cofferctl config set {key} VALUE")


def bound(coffer: Coffer) -> Iterator[Finding]:
    """bindings.toml: which directory is which project."""
    path = coffer.config.home / "bindings.toml"
    table = bindings.load(coffer.config.home)
    if table.damage:
        message = f"bindings.toml is damaged ({table.damage}); projects may not find their stores"
        yield _finding("bindings", "error", message, str(path), "in each project: cofferctl stores link STORE")
    deleted = {event.get("store") for event in events.read(coffer.config.home)}
    missing: dict[str, str] = {}
    for row in table.rows:
        target = store.locate(coffer.config.home, row.store)
        if not target.exists and target.name not in deleted and target.name not in missing:
            missing[target.name] = row.root
        if not os.path.isdir(row.root):
            message = f"the project {row.root} is gone; its store {target.name} stays, and follows it when it is moved"
            yield _finding("project_gone", "note", message, row.root)
    for name, root in missing.items():
        message = f"{name}, the store of {root}, is not there; the next write there makes a new one"
        yield _finding("store_gone", "warning", message, root, "put the store's directory back from a backup")


def not_stores(coffer: Coffer) -> Iterator[Finding]:
    """Directories where stores are that are none (any more)."""
    memory = coffer.config.home / "memory"
    good = {found.directory for found in store.existing(coffer.config.home)}
    for directory in (memory / "global", *_listed(memory / "projects")):
        if directory not in good and os.path.lexists(directory) and any(_listed(directory)):
            message = f"{directory} is no store: its git repository is missing or damaged, so its files are not used"
            yield _finding(
                "not_a_store",
                "error",
                message,
                str(directory),
                f"move it away, then: cofferctl import markdown {directory.name}",
            )


def leftovers(coffer: Coffer) -> Iterator[Finding]:
    """What a command that died left beside the stores."""
    for path in _dead(coffer):
        yield _finding("leftover", "note", f"{path} was left by a command that died", str(path), FIX)
    for path in sorted(coffer.config.home.glob("bindings.toml.damaged-*")):
        message = f"{path} is a damaged bindings.toml that was set aside"
        yield _finding("set_aside", "note", message, str(path), f"read it, then: rm {quote(str(path))}")


def permissions(coffer: Coffer) -> Iterator[Finding]:
    """What other users of the machine could read or change."""
    home = coffer.config.home.resolve()
    loose = list(_loose(home))
    if loose:
        names = [os.path.relpath(path, home) for path in loose]
        open_to_all = loose[0] == str(home)
        message = f"{len(loose):,} files or directories under {home} have rights for other users: {some(names)}"
        within = "" if open_to_all else "; the home itself is closed to them"
        yield _finding("permissions", "warning" if open_to_all else "note", message + within, str(home), FIX)


def store_settings(patient: Patient) -> Iterator[Finding]:
    """store.toml."""
    path = patient.store.directory / "store.toml"
    found, wrong = config.load(path)
    again = patient.git("checkout -- store.toml")
    if wrong or not path.is_file():
        message = "store.toml is not valid TOML and is ignored" if wrong else "store.toml is missing"
        yield patient.finding("settings", "warning", message, "store.toml", again)
        return
    form = found.get("format", store.FORMAT)
    if not isinstance(form, int) or form > store.FORMAT:
        message = f"the store has format {form}; this version knows {store.FORMAT}"
        yield patient.finding("newer_format", "error", message, "store.toml", "upgrade cofferctl")
    if found.get("id", patient.store.id) != patient.store.id:
        message = "store.toml names another store than its directory does; was it copied?"
        yield patient.finding("settings", "warning", message, "store.toml", again)
    for key in _bad_values(found):
        message = f"{key} in store.toml has a value it cannot have, which is ignored"
        fix = f"cofferctl stores config {patient.store.name} {key} VALUE"
        yield patient.finding("settings", "warning", message, "store.toml", fix)


def tighten(coffer: Coffer, findings: Sequence[Finding]) -> None:  # noqa: ARG001
    """Take other users' rights away."""
    for path in _loose(coffer.config.home.resolve()):
        os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~_OTHERS)


def remove_leftovers(coffer: Coffer, findings: Sequence[Finding]) -> None:  # noqa: ARG001
    """Remove half-made and half-deleted stores, while nobody makes or deletes one."""
    with files.lock(coffer.config.home / "memory/.creating"):
        for path in _dead(coffer):
            shutil.rmtree(path, ignore_errors=True)


HOME = (optional_parts, settings, bound, not_stores, leftovers, permissions)
HOME_FIXES = {"permissions": tighten, "leftover": remove_leftovers}
STORE = (store_settings,)


def _finding(kind: str, level: Level, message: str, path: str | None = None, fix: str | None = None) -> Finding:
    return Finding(kind, level, None, path, message, fix)


def _bad_values(found: Mapping[str, Any]) -> list[str]:
    return [key for key in config.SETTINGS if key in found and config.effective(key, found)[1] is None]


def _listed(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return []


def _dead(coffer: Coffer) -> list[Path]:
    memory = coffer.config.home / "memory"
    return sorted([*memory.glob(".deleted-*"), *memory.glob(".new-*")])


def _loose(home: Path) -> Iterator[str]:
    """Everything under the home, itself first, that others have rights to; links have none of their own."""
    if os.name != "posix":
        return
    pending = [str(home)]
    while pending:
        path = pending.pop()
        try:
            mode = os.lstat(path).st_mode
            entries = list(os.scandir(path)) if stat.S_ISDIR(mode) else []
        except OSError:
            continue
        if mode & _OTHERS and not stat.S_ISLNK(mode):
            yield path
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif not entry.is_symlink() and entry.stat(follow_symlinks=False).st_mode & _OTHERS:
                yield entry.path
