"""Who may import whom, how large things may be, what a command may load; every failure says why the rule is there."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cofferctl.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGES = ("cofferctl", "index/coffer_index", "mcp_bridge/coffer_mcp")

FLOORS = (
    ("errors", "ulid"),
    ("files", "dates", "choices", "secrets", "lanes", "head"),
    ("config", "gitdir", "fact", "state", "events", "statcache", "inbox"),
    ("bindings", "worktree", "documents", "intake"),
    ("scope", "history", "placing"),
    ("intent", "snapshot"),
    ("transaction",),
    ("store",),
    ("coffer",),
    ("searching", "selecting", "patches"),
    ("past", "importing"),
    ("lineage", "checks"),
    ("commands",),
    ("cli",),
)
"""The house from the ground up: a room knows only rooms below its own floor, and itself."""
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

NARROWER = {
    "cli": ({"commands", "config", "coffer", "errors"}, "the command line renders; what it shows comes from commands"),
    "history": ({"files", "lanes", "errors"}, "history speaks git; it knows neither facts nor that an index exists"),
    "scope": ({"bindings", "gitdir", "errors"}, "which project this is must be answered without a git library"),
    "secrets": ({"errors"}, "what looks like a secret depends on nothing else"),
}
"""Rooms that know less than their floor allows."""

OWNERS = {
    "dulwich": (("cofferctl/history/",), "one room speaks git objects, so that the library can be replaced there"),
    "tantivy": (("index/coffer_index/keyword.py",), "one file knows how words are indexed"),
    "apsw": (("index/coffer_index/vectors.py",), "one file knows how vectors are kept"),
    "sqlite_vec": (("index/coffer_index/vectors.py",), "one file knows how vectors are kept"),
    "typer": (("cofferctl/cli/",), "commands must be callable without a command line"),
    "rich": (("cofferctl/cli/",), "only the command line draws"),
    "mcp": (("mcp_bridge/coffer_mcp/",), "only the bridge speaks MCP"),
    "yaml": (("cofferctl/head.py",), "one file reads heads"),
    "frontmatter": (("cofferctl/head.py",), "one file reads heads"),
    "tomlkit": (("cofferctl/config.py",), "one file edits settings"),
    "coffer_index": (
        ("index/", *(f"cofferctl/{name}" for name in ("coffer.py", "documents.py", "searching.py", "commands/"))),
        "the write path and history do not know that an index exists",
    ),
    "coffer_mcp": (("mcp_bridge/", "cofferctl/cli/"), "only the command that starts the bridge knows it"),
}  # fmt: skip
SLOW = ("fastembed", "openai", "mcp", "numpy", "httpx", "frontmatter", "platformdirs", "tomlkit", "slugify")
"""Imported inside functions only: each costs more than a whole `remember` may."""

MAX_FILE, MAX_FUNCTION, MAX_CLI = 400, 60, 60
CLI_TOOLS = {"__init__", *app._TOOLS}


def sources() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


def room(path: str) -> str:
    """`cofferctl/cli/app.py` -> cli, `cofferctl/fact.py` -> fact."""
    parts = Path(path).with_suffix("").parts
    return parts[1] if parts[0] == "cofferctl" else "coffer_index" if "coffer_index" in parts else "coffer_mcp"


def imports(path: str) -> Iterator[tuple[str, int, bool]]:
    """(module, line, whether at the top) of every import that happens when the code runs."""
    module = tree(path)
    for_types = {
        id(inner)
        for node in ast.walk(module)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    inside = {id(inner) for node in ast.walk(module) if isinstance(node, ast.FunctionDef) for inner in ast.walk(node)}
    for node in ast.walk(module):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            names = [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute, so that one can search for them"
            names = [f"{node.module}.{item.name}" for item in node.names]
        else:
            continue
        for name in names:
            yield name, node.lineno, id(node) not in inside


def known_rooms(path: str) -> Iterator[tuple[str, int]]:
    for name, line, _ in imports(path):
        parts = name.split(".")
        if parts[0] == "cofferctl" and len(parts) > 1 and parts[1] != "__version__":
            yield parts[1], line


@pytest.mark.parametrize(
    "path", [path for path in sources() if path.startswith("cofferctl/") and room(path) != "__init__"]
)
def test_a_room_knows_only_rooms_below_it(path):
    own = room(path)
    assert own in FLOOR, f"{path}: say on which floor of the house {own} stands, in FLOORS of this test"
    for other, line in known_rooms(path):
        if other == own:
            continue
        assert other in FLOOR, f"{path}:{line}: say on which floor of the house {other} stands"
        assert FLOOR[other] < FLOOR[own], (
            f"{path}:{line}: {own} must not know {other}: calls go straight down, nothing calls back up"
        )
        allowed, why = NARROWER.get(own, (None, ""))
        assert allowed is None or other in allowed, f"{path}:{line}: {own} must not know {other}: {why}"


@pytest.mark.parametrize("path", [path for path in sources() if not path.startswith("cofferctl/")])
def test_the_index_and_the_bridge_are_packages_of_their_own(path):
    for other, line in known_rooms(path):
        if room(path) == "coffer_index":
            raise AssertionError(
                f"{path}:{line}: the index is given paths, blobs and a way to read; it knows no {other}"
            )
        assert other in {"commands", "config", "coffer", "errors"}, (
            f"{path}:{line}: the bridge is thin: one tool, one command; it must not know {other}"
        )


@pytest.mark.parametrize("path", sources())
def test_a_library_has_one_owner(path):
    for name, line, top in imports(path):
        library = name.split(".")[0]
        owners, why = OWNERS.get(library, ((), ""))
        assert not owners or path.startswith(owners), f"{path}:{line}: {library} belongs to {' '.join(owners)}: {why}"
        assert not (top and library in SLOW), f"{path}:{line}: import {library} inside the function that needs it"
        assert not name.startswith("dulwich.porcelain"), (
            f"{path}:{line}: porcelain is slow and loses concurrent commits"
        )


@pytest.mark.parametrize("path", sources())
def test_only_the_edge_talks_to_the_world(path):
    """The command layer is called by the command line, the bridge and tests alike."""
    edge = path.startswith(("cofferctl/cli/", "mcp_bridge/"))
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "input"):
            raise AssertionError(f"{path}:{node.lineno}: {node.func.id}() - what is shown goes through cli/render.py")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            assert edge or name not in ("sys.stdout", "sys.stderr", "sys.stdin", "sys.argv", "sys.exit"), (
                f"{path}:{node.lineno}: {name} belongs to the edge; give the command what it needs as an argument"
            )
            assert (
                edge or path == "cofferctl/history/programs.py" or name not in ("os.environ", "os.getenv", "os.getcwd")
            ), f"{path}:{node.lineno}: {name} is read once, by the entry points, into a Config"
    if path.startswith("cofferctl/commands/"):
        for name, line, _ in imports(path):
            assert name.split(".")[0] != "sys", f"{path}:{line}: commands know no process"


def code_lines(path: str) -> int:
    """Lines that hold code: no blank ones, no docstring."""
    module = tree(path)
    first = module.body[0]
    text = (ROOT / path).read_text().splitlines()
    return sum(1 for line in text[first.end_lineno :] if line.strip())


@pytest.mark.parametrize("path", sources())
def test_small_because_simple(path):
    lines = (ROOT / path).read_text().count("\n")
    assert lines <= MAX_FILE, f"{path} has {lines} lines: past {MAX_FILE} a file has more than one subject"
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION, (
                f"{path}:{node.lineno}: {node.name} has {length} lines: it does not fit a screen"
            )
    if path.startswith("cofferctl/cli/") and Path(path).stem not in CLI_TOOLS:
        lines = code_lines(path)
        assert lines <= MAX_CLI, (
            f"{path} has {lines} lines of code: options, one call, one rendering; more is a command's"
        )


@pytest.mark.parametrize("path", sources())
def test_every_module_says_in_one_sentence_what_it_is_for(path):
    text = ast.get_docstring(tree(path))
    assert text, f"{path}: a module begins with a docstring"
    first = text.partition("\n")[0]
    assert first.endswith("."), f"{path}: the docstring's first line is one sentence: {first!r}"
    assert "\n" not in text.rstrip() or text.split("\n")[1] == "", f"{path}: an empty line follows the first sentence"


@pytest.mark.parametrize(
    "path", [path for path in sources() if path.startswith("cofferctl/cli/") and Path(path).stem not in CLI_TOOLS]
)
def test_a_command_is_one_file(path):
    names = {node.id for node in ast.walk(tree(path)) if isinstance(node, ast.Name)}
    assert {"SECTION", "app"} <= names, f"{path}: a command names its SECTION and its app; a tool stands in CLI_TOOLS"


def loaded(*args: str, cwd: Path, stdin: str = "") -> set[str]:
    """The modules that a run of the program, its output piped, has loaded."""
    code = (
        "import json, sys\n"
        "from cofferctl.cli.app import run\n"
        "code = run(sys.argv[1:])\n"
        "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


NEVER = {"mcp", "fastembed", "openai", "numpy", "httpx", "dulwich.porcelain", "coffer_mcp"}


def test_what_a_command_loads(memory):
    cwd = memory.cwd
    assert sorted(loaded("--help", cwd=cwd) & NEVER) == []
    assert sorted(loaded("remember", "Something about a curlew", cwd=cwd) & NEVER) == []
    assert sorted(loaded("recall", "curlew", cwd=cwd) & NEVER) == []
    for args in (("recall", "curlew"), ("recall", "curlew", "--json")):
        unwanted = NEVER | {"dulwich", "yaml", "frontmatter", "rich", "pydantic"}
        assert sorted(loaded(*args, cwd=cwd) & unwanted) == [], "with a current index only files and the index are read"
    assert sorted(loaded("remember", "Another", cwd=cwd) & {"rich", "yaml", "frontmatter", "slugify"}) == []


def test_help_loads_no_memory(tmp_path):
    found = loaded("recall", "--help", cwd=tmp_path)
    assert sorted(found & (NEVER | {"dulwich", "tantivy", "yaml", "rich", "coffer_index"})) == []
