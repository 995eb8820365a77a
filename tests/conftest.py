"""The world of a test: an empty home, no git settings of anybody, a fixed locale, no network."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path  # noqa: TC003 - fixtures are looked at

import pytest
from support.memory import Memory

GIT_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Dev",
    "GIT_AUTHOR_EMAIL": "dev@example.org",
    "GIT_COMMITTER_NAME": "Dev",
    "GIT_COMMITTER_EMAIL": "dev@example.org",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write what is printed as what is wanted")


def clean_env(home: Path) -> dict[str, str]:
    """The environment of a user who has just got a new machine."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "COFFER_HOME": str(home.parent / "coffer"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "HF_HUB_OFFLINE": "1",
        **GIT_ENV,
    }


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Replace the whole environment; every test starts in an empty directory of its own."""
    home = tmp_path / "home"
    home.mkdir()
    env = clean_env(home)
    for name in list(os.environ):
        if name not in ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"):
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return env


def git(cwd: Path, *args: str, check: bool = True, **env: str) -> str:
    """Run plain git as a user would; its standard output."""
    wanted = {**os.environ, **env}
    done = subprocess.run(
        ["git", *args], cwd=cwd, env=wanted, capture_output=True, text=True, errors="replace", check=False
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {done.stderr}")
    return done.stdout


@pytest.fixture(name="git")
def git_fixture():
    return git


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with one commit of its own."""
    return make_project(tmp_path / "proj")


def make_project(path: Path, remote: str | None = None) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", f"start of {path}")
    if remote:
        git(path, "remote", "add", "origin", remote)
    return path


@pytest.fixture
def memory(project: Path) -> Memory:
    """The memory of `project`, nothing in it yet."""
    return Memory(project)
