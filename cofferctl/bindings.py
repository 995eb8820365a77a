"""The file that says which directory is which project, and what else is kept to know one again."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from cofferctl import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_BYTES = 16_000_000
MAX_COMMITS = 50
MAX_REMOTE = 1000

_HEADER = (
    "# Which directory is which project. Written by cofferctl; `cofferctl stores link` is the way to change it.\n\n"
)
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BARE_STRING = r'"([^"\\\x00-\x1f\x7f]*)"'
_ROW = re.compile(
    rf"\[\[project\]\]\nstore = {_BARE_STRING}\nroot = {_BARE_STRING}\n"
    rf"device = (0|[1-9]\d*)\ninode = (0|[1-9]\d*)\nbirth = (0|-?[1-9]\d*)\norigin = {_BARE_STRING}\n\n"
)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_PORTS = {
    "ssh": 22,
    "git+ssh": 22,
    "ssh+git": 22,
    "git": 9418,
    "http": 80,
    "git+http": 80,
    "https": 443,
    "git+https": 443,
}
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)")
_SCP = re.compile(r"(?:[^/:@\[\]]*@)?(\[[^\]/]+\]|[^/:@\[\]]+):(.*)")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*?)\.?(?::(\d{0,5}))?")
_MUST_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')


@dataclass(frozen=True, slots=True)
class Binding:
    """One root of a project.

    Attributes:
        store: the id of its store.
        root: its directory, resolved.
        device: that of its git directory; not stable over restarts.
        inode: the git directory's inode number; 0 where the file system has none, and the path alone counts.
        birth: when git made it, in nanoseconds; 0 when unknown.
        origin: its normalized remote, without user or password; empty when it has none that counts.
    """

    store: str
    root: str
    device: int
    inode: int
    birth: int
    origin: str


@dataclass(frozen=True, slots=True)
class Bindings:
    """What the file holds.

    Attributes:
        rows: the roots, oldest first.
        damage: why not all of the file could be read; None when it was.
        set_aside: where the damaged file was moved by the change just made.
    """

    rows: tuple[Binding, ...] = ()
    damage: str | None = None
    set_aside: Path | None = None


def is_store_id(text: str) -> bool:
    """Whether a text can be a store's id, and so part of a path."""
    return _ULID.fullmatch(text) is not None


def load(home: Path) -> Bindings:
    """Read the bindings; a missing file is none, a damaged one is what can be read of it. Raises nothing."""
    path = home / "bindings.toml"
    try:
        data = files.read_regular(path, MAX_BYTES)
    except OSError as error:
        return Bindings(damage=error.strerror or str(error))
    if data is None:
        return Bindings(damage=f"not a file of at most {MAX_BYTES} bytes") if os.path.lexists(path) else Bindings()
    try:
        return parse(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        return Bindings(damage=f"not UTF-8 at byte {error.start}")


def change(
    home: Path, edit: Callable[[tuple[Binding, ...]], tuple[Binding, ...]], *, timeout: float = 10.0
) -> Bindings:
    """Replace the rows by what `edit` makes of them, alone with the file; nothing is written when that is the same.

    A damaged file is kept under another name before it is replaced.

    Raises:
        Busy: another process held the file for longer than `timeout` seconds.
        NotWritable: the home cannot be written.
    """
    path = home / "bindings.toml"
    try:
        files.make_private_dirs(home)
        with files.lock(home / "bindings.lock", timeout=timeout):
            current = load(home)
            rows = edit(current.rows)
            if rows == current.rows:
                return current
            aside = _set_aside(path) if current.damage else None
            files.write_atomic(path, render(rows).encode())
    except OSError as error:
        raise files.NotWritable(path, error) from error
    return Bindings(rows=rows, set_aside=aside)


def parse(text: str) -> Bindings:
    """Read the rows of a TOML text; rows that are not ours are left out and named as damage."""
    rows = _parse_plain(text)
    if rows is not None:
        return Bindings(rows=rows)
    import tomllib  # noqa: PLC0415 - 5 ms, and only for files with odd names or an editor's hand in them

    try:
        tables = tomllib.loads(text).get("project", [])
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        return Bindings(damage=str(error))
    if not isinstance(tables, list):
        return Bindings(damage="project is not a list of tables")
    read = [_row(table) for table in tables]
    wrong = [str(number) for number, row in enumerate(read, 1) if row is None]
    damage = f"project table {', '.join(wrong)} cannot be read" if wrong else None
    return Bindings(rows=tuple(row for row in read if row is not None), damage=damage)


def render(rows: tuple[Binding, ...]) -> str:
    """Write rows as TOML.

    Hand-written, because the library that writes TOML (tomlkit) costs 20 ms at each start that binds a directory,
    and all there is to write are numbers and basic strings.
    """
    return _HEADER + "".join(_render_row(row) for row in rows)


def recorded_commits(home: Path, store: str) -> tuple[str, ...]:
    """The newest commits of the store's project seen at its writes, newest last; empty when none can be read."""
    try:
        data = files.read_regular(home / "commits" / store) if is_store_id(store) else None
    except OSError:
        data = None
    lines = (data or b"").decode("ascii", "replace").split()
    return tuple(line for line in lines if _COMMIT.fullmatch(line))[-MAX_COMMITS:]


def record_commit(home: Path, store: str, commit: str) -> None:
    """Remember a commit of the store's project; nothing is written for one that is known.

    Raises:
        Busy: another process held the lock for too long.
        NotWritable: the home cannot be written.
    """
    if not is_store_id(store) or not _COMMIT.fullmatch(commit) or commit in recorded_commits(home, store):
        return
    path = home / "commits" / store
    try:
        files.make_private_dirs(path.parent)
        with files.lock(home / "bindings.lock"):
            known = recorded_commits(home, store)
            if commit not in known:
                files.write_atomic(path, "".join(f"{line}\n" for line in (*known, commit)[-MAX_COMMITS:]).encode())
    except OSError as error:
        raise files.NotWritable(path, error) from error


def normalize_remote(url: str) -> str | None:
    """Bring the forms of one remote to one: `host/path`, without user, default port and `.git`.

    None for what names nothing outside of this machine: paths, drives, file URLs, bundles, remote helpers.
    """
    url = url.strip()
    if len(url) > MAX_REMOTE or not url.isprintable() or " " in url or "\\" in url:
        return None
    if found := _URL.fullmatch(url):
        scheme, authority, path = found[1].lower(), found[2].rpartition("@")[2], found[3]
        if scheme.endswith(("http", "https")):
            path = re.split(r"[?#]", path, maxsplit=1)[0]  # tokens are put there
    elif found := _SCP.fullmatch(url):
        scheme, authority, path = "ssh", found[1], found[2]
        if len(authority) == 1 or path.startswith(":"):  # a Windows drive, `helper::address`
            return None
        if authority.startswith("[") and authority.count(":") == 1:  # [host:port]:path
            authority = authority[1:-1]
    else:
        return None
    host = _normal_host(authority, _PORTS.get(scheme))
    name = _normal_path(path)
    return f"{host}/{name}" if host and name else None


def _set_aside(path: Path) -> Path:
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.damaged-{number}")):
        number += 1
    path.rename(aside)
    return aside


def _parse_plain(text: str) -> tuple[Binding, ...] | None:
    """Read exactly what `render` writes for ordinary names, in a tenth of tomllib's time; None for anything else."""
    if not text.startswith(_HEADER):
        return None
    rows = []
    position = len(_HEADER)
    while position < len(text):
        found = _ROW.match(text, position)
        if not found or not is_store_id(found[1]) or not found[2]:
            return None
        rows.append(Binding(found[1], found[2], int(found[3]), int(found[4]), int(found[5]), found[6]))
        position = found.end()
    return tuple(rows)


def _row(table: object) -> Binding | None:
    """Check one table; None when it is not a binding."""
    if not isinstance(table, dict):
        return None
    values = {"device": 0, "inode": 0, "birth": 0, "origin": "", **table}
    if isinstance(raw := values.pop("root_bytes", None), str):
        try:
            values["root"] = os.fsdecode(bytes.fromhex(raw))
        except ValueError:
            return None
    numbers = [values[name] for name in ("device", "inode", "birth")]
    texts = [values.get(name) for name in ("store", "root", "origin")]
    if not all(type(number) is int for number in numbers) or not all(isinstance(text, str) for text in texts):
        return None
    if not is_store_id(values["store"]) or not values["root"]:
        return None
    return Binding(**{field.name: values[field.name] for field in fields(Binding)})


def _render_row(row: Binding) -> str:
    try:
        row.root.encode()
        root = f"root = {_string(row.root)}"
    except UnicodeEncodeError:  # a name that is not UTF-8, which TOML has no way to say
        root = f'root_bytes = "{os.fsencode(row.root).hex()}"'
    return (
        f"[[project]]\nstore = {_string(row.store)}\n{root}\n"
        f"device = {row.device}\ninode = {row.inode}\nbirth = {row.birth}\norigin = {_string(row.origin)}\n\n"
    )


def _string(text: str) -> str:
    """A TOML basic string."""
    return f'"{_MUST_ESCAPE.sub(lambda found: _escape(found[0]), text)}"'


def _escape(letter: str) -> str:
    return _ESCAPES.get(letter) or f"\\u{ord(letter):04X}"


def _normal_host(authority: str, default_port: int | None) -> str | None:
    found = _HOST.fullmatch(authority)
    if not found or default_port is None:
        return None
    port = int(found[2] or default_port)
    return found[1].lower() + (f":{port}" if port != default_port else "")


def _normal_path(path: str) -> str | None:
    parts = [part for part in path.split("/") if part]
    while parts and parts[-1].endswith(".git"):
        parts[-1] = parts[-1].removesuffix(".git")
        parts = parts if parts[-1] else parts[:-1]
    if "@" in path or {".", ".."} & set(parts):  # an @ here is the end of a password with a slash in it
        return None
    return "/".join(parts)
