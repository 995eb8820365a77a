"""Reads the text files of a git repository without git, in directories that nobody vouches for."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from cofferctl import files

MAX_PACKED_REFS = 64_000_000
MAX_POINTER = 16_384
MAX_SYMREFS = 5

_COMMIT = re.compile(r"[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
_REF_UNSAFE = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")
# Possessive quantifiers (`*+`): a hostile config must not make a match take quadratic time.
_SECTION = re.compile(r'\s*+\[\s*+([A-Za-z0-9.-]++)\s*+(?:"((?:[^"\\]|\\.)*+)"\s*+)?+\]')
_SETTING = re.compile(r"\s*+([A-Za-z][A-Za-z0-9-]*+)\s*+=\s*+(.*)", re.DOTALL)
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


@dataclass(frozen=True, slots=True)
class GitDir:
    """The repository that a directory lies in.

    Attributes:
        root: the project's directory; of a linked work tree, the main repository's.
        path: what identifies it: the git directory, or the `.git` file of a directory that nothing points back to.
        common: the git directory with config, refs and objects; None for such a `.git` file.
        own: the git directory whose HEAD is checked out here (a linked work tree has its own); None likewise.
        disowned: where such a `.git` file leads; None for all others.
    """

    root: Path
    path: Path
    common: Path | None
    own: Path | None
    disowned: Path | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """What stays the same when a git directory is moved; zeros for what the file system does not tell."""

    device: int
    inode: int
    birth: int


@dataclass(frozen=True, slots=True)
class Head:
    """What HEAD says: no branch when detached, no commit when unborn or kept in a reftable."""

    branch: str | None = None
    commit: str | None = None


def find_root(directory: Path, home: Path | None = None) -> GitDir | None:
    """Walk up from a directory, which need not exist, to the repository it lies in; None outside of any.

    Args:
        directory: where to begin; links in it are resolved.
        home: a repository here, above here, or at the file system's root would make everything below one project,
            so it is none.
    """
    try:
        start = Path(os.path.realpath(directory))
    except (OSError, ValueError):
        return None
    for place in (start, *start.parents):
        if place.parent == place or _same(place, home):
            return None
        found = _repository(place)
        if found is not None:
            too_wide = found.root.parent == found.root or _same(found.root, home)
            return None if too_wide else found
    return None


def is_git_dir(path: Path) -> bool:
    """Whether a real directory holds what a repository needs, itself and not by links.

    A `commondir` file belongs to linked work trees; in a main git directory it would lend it somebody else's objects.
    """
    return (
        _is_dir(path)
        and _is_file(path / "HEAD")
        and _is_dir(path / "objects")
        and (_is_dir(path / "refs") or _is_dir(path / "reftable"))
        and not os.path.lexists(path / "commondir")
    )


def identity(path: Path) -> Identity | None:
    """Identify a git directory or `.git` file; None when it is gone.

    Inode numbers are used again at once after `rm -rf`, hence the birth: the time of a file that git makes at init and
    never touches again.
    """
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return None
    birth = info.st_mtime_ns if stat.S_ISREG(info.st_mode) else _time(path / "description", path / "info" / "exclude")
    return Identity(device=info.st_dev, inode=info.st_ino, birth=birth)


def head(git_dir: Path, common: Path | None = None) -> Head:
    """Read which branch and commit are checked out.

    Args:
        git_dir: where HEAD lies.
        common: where the refs lie, when that is another directory.
    """
    ref = ""
    text = _line(git_dir / "HEAD")
    for _ in range(MAX_SYMREFS + 1):
        if text is None or not text.startswith("ref:"):
            found = text is not None and _COMMIT.fullmatch(text)
            return Head(_branch(ref), text.lower() if text and found else None)
        ref = text[4:].strip()
        if not _is_ref(ref):
            return Head()
        text = _loose(common or git_dir, ref) or _packed(common or git_dir, ref)
    return Head()


def origin_url(git_dir: Path) -> str | None:
    """Read the URL of the remote `origin` from the repository's own config file: no includes, no rewriting."""
    text = _text(git_dir / "config")
    urls = config_values(text, "remote", "origin", "url") if text else []
    return urls[0] if urls else None


def config_values(text: str, section: str, subsection: str, key: str) -> list[str]:
    """Collect the values of one key of a git config text in order, leniently: what does not parse is skipped."""
    values = []
    inside = False
    # The second is the old spelling [remote.origin].
    wanted = {(section, subsection or None), (f"{section}.{subsection}".rstrip("."), None)}
    for line in _CONTINUED.sub(r"\1", text.removeprefix("\ufeff")).split("\n"):
        rest = line
        if header := _SECTION.match(line):
            name = re.sub(r"\\(.)", r"\1", header[2]) if header[2] is not None else None
            inside = (header[1].lower(), name) in wanted
            rest = line[header.end() :]
        if inside and (setting := _SETTING.match(rest)) and setting[1].lower() == key:
            values.append(_config_value(setting[2]))
    return values


def _config_value(raw: str) -> str:
    """Take quotes, escapes and the comment off a value."""
    out: list[str] = []
    quoted = False
    kept = 0
    letters = iter(raw)
    for letter in letters:
        if letter == "\\":
            escaped = next(letters, "")
            out.append(_ESCAPES.get(escaped, escaped))
        elif letter == '"':
            quoted = not quoted
            kept = len(out)
            continue
        elif letter in "#;" and not quoted:
            break
        else:
            out.append(letter)
        if quoted or not letter.isspace():
            kept = len(out)
    return "".join(out[:kept])


def _repository(place: Path) -> GitDir | None:
    dot = place / ".git"
    if _is_dir(dot):
        return GitDir(place, dot, dot, dot) if is_git_dir(dot) else None
    target = _pointer(dot)
    if target is None:
        return None
    return _linked(place, target) or _submodule(place, target) or GitDir(place, dot, None, None, disowned=target)


def _linked(place: Path, target: Path) -> GitDir | None:
    """Follow a linked work tree to its main repository, if that knows of this very directory.

    Anybody can write a `.git` file that names somebody's repository, or make a directory whose `commondir` does; only
    an entry below the repository's own `worktrees`, naming this directory, is its owner's word.
    """
    commondir, back = _line(target / "commondir"), _line(target / "gitdir")
    if not commondir or not back:
        return None
    common = _real(target / commondir)
    folder, name = os.path.split(target / back)
    if common is None or not is_git_dir(common) or not _same(target.parent, common / "worktrees"):
        return None
    # The directories are compared, not the files: a hard link would make two `.git` files one.
    if name != ".git" or not _same(Path(folder), place):
        return None
    return GitDir(_main_root(common), common, common, target)


def _submodule(place: Path, target: Path) -> GitDir | None:
    """Accept a git directory elsewhere that names this directory as its work tree, or lies in it (`./.bare`)."""
    if not is_git_dir(target):
        return None
    return GitDir(place, target, target, target) if target.parent == place or _same(_work_tree(target), place) else None


def _main_root(common: Path) -> Path:
    """The directory that stands for a repository reached from one of its linked work trees."""
    if common.name == ".git":
        return common.parent
    for place in (_work_tree(common), common.parent):
        if place is not None and _same(_pointer(place / ".git"), common):
            return place
    return common


def _work_tree(git_dir: Path) -> Path | None:
    """Read core.worktree; git moves it to config.worktree when work trees have settings of their own."""
    for name in ("config", "config.worktree"):
        text = _text(git_dir / name)
        values = config_values(text, "core", "", "worktree") if text else []
        if values:
            return _real(git_dir / values[-1])
    return None


def _pointer(dot: Path) -> Path | None:
    """Where a regular `.git` file leads; None when it is none, or does not read as one."""
    text = _line(dot)
    if text is None or not text.startswith("gitdir: "):
        return None
    return _real(dot.parent / text.removeprefix("gitdir: "))


def _branch(ref: str) -> str | None:
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None


def _is_ref(ref: str) -> bool:
    """Whether a name is one git would make, so that it cannot lead out of the git directory."""
    parts = ref.split("/")
    if parts[0] != "refs" or len(parts) == 1 or _REF_UNSAFE.search(ref):
        return False
    return not any(not part or part.startswith(".") or part.endswith((".", ".lock")) or ".." in part for part in parts)


def _loose(common: Path, ref: str) -> str | None:
    path = common
    for part in ref.split("/")[:-1]:
        path = path / part
        if not _is_dir(path):
            return None
    return _line(common / ref)


def _packed(common: Path, ref: str) -> str | None:
    data = _bytes(common / "packed-refs", MAX_PACKED_REFS) or b""
    wanted = os.fsencode(f" {ref}\n") if _encodable(ref) else b"\x00"
    end = (data + b"\n").find(wanted)
    if end < 0:
        return None
    return data[data.rfind(b"\n", 0, end) + 1 : end].decode("ascii", "replace")


def _encodable(ref: str) -> bool:
    try:
        os.fsencode(ref)
    except UnicodeError:
        return False
    return True


def _bytes(path: Path, limit: int) -> bytes | None:
    try:
        return files.read_regular(path, limit)
    except (OSError, ValueError):  # unreadable, or no file name at all
        return None


def _text(path: Path, limit: int = files.MAX_TEXT_BYTES) -> str | None:
    data = _bytes(path, limit)
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _line(path: Path) -> str | None:
    """A small file without its line end; None also for what cannot be a name or a reference."""
    text = _text(path, MAX_POINTER)
    return None if text is None or "\0" in text else text.rstrip("\r\n")


def _real(path: Path) -> Path | None:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None


def _same(one: Path | None, other: Path | None) -> bool:
    """Whether two paths are one file; spelling, links and letter case aside."""
    if one is None or other is None:
        return False
    try:
        first, second = one.stat(), other.stat()
    except (OSError, ValueError):
        return False
    if not first.st_ino or not second.st_ino:
        return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))
    return os.path.samestat(first, second)


def _mode(path: Path) -> int:
    """What a path itself is, links not followed; 0 when it is not there, and for Windows' junctions."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return 0
    return 0 if getattr(info, "st_reparse_tag", 0) else info.st_mode


def _is_dir(path: Path) -> bool:
    return stat.S_ISDIR(_mode(path))


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(_mode(path))


def _time(*paths: Path) -> int:
    """The modification time of the first that is a regular file; 0 when none is."""
    for path in paths:
        try:
            info = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISREG(info.st_mode):
            return info.st_mtime_ns
    return 0
