"""The command line in this process, and what must hold of a store after anything that may happen to it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cofferctl import fact, lanes
from cofferctl.cli import app
from support.memory import git


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        return json.loads(self.err.splitlines()[-1])["error"]


def cli(*args: str) -> Answer:
    """Run one command line in this process, answers as JSON."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run([args[0], *args[1:], "--json"] if "--" not in args else [args[0], "--json", *args[1:]])
    return Answer(code, out.getvalue(), err.getvalue())


def text_of(*args: str) -> str:
    """What a command line that must succeed prints for people."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = app.run(list(args))
    assert code == 0, args
    return out.getvalue()


def ok(*args: str) -> dict[str, Any]:
    """The answer of a command that must succeed."""
    answer = cli(*args)
    assert answer.code == 0, answer.err
    return answer.data


def store_dir(home: Path | None = None) -> Path:
    """The only project's store."""
    (found,) = (Path(os.environ["COFFER_HOME"] if home is None else home) / "memory/projects").iterdir()
    return found


def on_disk(store: Path) -> dict[str, bytes]:
    """Lane path -> bytes of every regular lane file."""
    return {
        path: file.read_bytes()
        for file in store.rglob("*.md")
        if file.is_file()
        and not file.is_symlink()
        and ".git" not in file.parts
        and lanes.lane_of(path := str(file.relative_to(store)))
    }


def in_head(store: Path) -> dict[str, bytes]:
    """Lane path -> bytes of HEAD's tree, by plain git."""
    listing = git(store, "ls-tree", "-r", "-z", "HEAD").split("\0")[:-1]
    names = {(entry := line.split("\t", 1))[1]: entry[0].split()[2] for line in listing}
    wanted = {path: blob for path, blob in names.items() if lanes.lane_of(path)}
    done = subprocess.run(
        ["git", "cat-file", "--batch"],
        cwd=store,
        input="".join(f"{blob}\n" for blob in wanted.values()).encode(),
        capture_output=True,
        check=True,
    )
    found, rest = {}, done.stdout
    for path in wanted:
        head, _, rest = rest.partition(b"\n")
        size = int(head.split()[2])
        found[path], rest = rest[:size], rest[size + 1 :]
    return found


def bodies(contents: dict[str, bytes]) -> Counter[str]:
    """How often each text is there."""
    return Counter(fact.parse(path, data).body for path, data in contents.items())


def leftovers(store: Path) -> list[str]:
    """Lock and temporary files in the git directory that belong to nobody."""
    git_dir = store / ".git"
    found = [path for path in git_dir.rglob("*.lock") if "coffer-index" not in path.parts]
    found += list((git_dir / "coffer/tmp").glob("*")) + list((git_dir / "coffer").glob("intent*"))
    found += list((git_dir / "coffer").glob("*.tmp"))
    return sorted(str(path.relative_to(git_dir)) for path in found)


def check_whole(store: Path, *, clean: bool = True) -> None:
    """Nothing is broken, nothing is left behind, nothing waits, no two facts are one."""
    assert git(store, "fsck", "--strict", "--no-dangling").strip() == ""
    assert leftovers(store) == []
    there = {path: fact.normalize(data) for path, data in on_disk(store).items()}
    ids = Counter(fact.parse(path, data).id for path, data in there.items())
    assert [identifier for identifier, times in ids.items() if times > 1] == []
    if clean:
        assert git(store, "status", "--porcelain").strip() == ""
        assert in_head(store) == there
