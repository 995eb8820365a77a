"""Which memory a directory belongs to (P cases): the same one by every way, and never a stranger's."""

from __future__ import annotations

import os

import pytest
from support.memory import git


def repo(path, *commands):
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", f"start of {path}")
    for command in commands:
        git(path, *command)
    return path


def test_p01_every_work_tree_is_the_project(memory, tmp_path):
    made = memory.remember("The sandpiper branch rule")
    git(memory.cwd, "worktree", "add", "-q", str(tmp_path / "wt"), "-b", "feature")
    git(memory.cwd, "worktree", "add", "-q", ".worktrees/x", "-b", "x")
    (tmp_path / "wt/deep/er").mkdir(parents=True)
    for place in (tmp_path / "wt", tmp_path / "wt/deep/er", memory.cwd / ".worktrees/x", memory.cwd):
        there = memory.at(place)
        assert there.texts("sandpiper") == ["The sandpiper branch rule"], place
        assert there.where().scopes[0].store == made.store
    assert memory.at(tmp_path / "wt").where().branch == "feature"
    also = memory.at(tmp_path / "wt/deep").remember("Said in the work tree")
    assert also.store == made.store
    assert memory.show(also.id).metadata["branch"] == "feature"


def test_p04_a_moved_repository_keeps_its_memory(memory, tmp_path):
    made = memory.remember("The ruff moved house")
    memory.cwd.rename(tmp_path / "elsewhere")
    moved = memory.at(tmp_path / "elsewhere")
    assert moved.texts("ruff") == ["The ruff moved house"]
    assert moved.where().scopes[0].store == made.store
    assert moved.remember("Still here").store == made.store
    (tmp_path / "elsewhere").rename(memory.cwd)
    assert memory.texts("still here") == ["Still here"]


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/team/shop.git",
        "https://user@example.org/team/shop",
        "ssh://git@EXAMPLE.org:22/team/shop.git",
    ],
)
def test_p04_another_clone_of_the_same_remote_has_the_same_memory(tmp_path, memory, other):
    one = repo(tmp_path / "one", ("remote", "add", "origin", "git@example.org:team/shop.git"))
    made = memory.at(one).remember("The shop opens at nine")
    git(tmp_path, "clone", "-q", str(one), "two")
    git(tmp_path / "two", "remote", "set-url", "origin", other)
    assert memory.at(tmp_path / "two").texts("shop") == ["The shop opens at nine"]
    assert memory.at(tmp_path / "two").remember("From two").store == made.store


def test_p06_reading_and_writing_agree_below_the_root(memory, tmp_path):
    (memory.cwd / "a/b").mkdir(parents=True)
    below = memory.at(memory.cwd / "a/b")
    made = below.remember("The knot below")
    for place in ("a/b", "a", "."):
        there = memory.at(memory.cwd / place)
        assert there.texts("knot") == ["The knot below"]
        assert there.where().scopes[0].store == made.store
        assert there.where().project_root == str(memory.cwd)
    plain = tmp_path / "plain/deep"
    plain.mkdir(parents=True)
    assert memory.at(plain).where().project_root is None
    assert memory.at(plain).hits("knot") == ()


def test_p07_a_home_that_is_a_repository_is_no_project(memory, tmp_path):
    home = tmp_path / "home"
    repo(home)
    (home / "new").mkdir()
    (home / "other").mkdir()
    repo(home / "real")
    new, real = memory.at(home / "new"), memory.at(home / "real")
    assert new.where().project_root is None
    assert memory.at(home).where().project_root is None
    assert [used.scope for used in new.where().scopes] == ["global"]
    new.remember("Said in new", scope="global")
    real.remember("Said in real")
    assert memory.at(home / "other").hits("real") == ()
    assert new.hits("real") == ()
    assert len(real.hits("said")) == 2
    assert git(home, "rev-list", "--count", "HEAD").strip() == "1"


def test_p08_nothing_is_made_in_the_home(memory, tmp_path):
    home = tmp_path / "home"
    before = sorted(os.listdir(home))
    there = memory.at(home)
    memory.remember("I prefer tabs", scope="global")
    assert there.texts("tabs") == ["I prefer tabs"]
    from cofferctl.scope import ScopeUnresolved

    with pytest.raises(ScopeUnresolved):
        there.remember("x")
    there.list()
    there.status()
    assert sorted(os.listdir(home)) == before


@pytest.mark.parametrize("remotes", [False, True])
def test_p11_equal_base_names_are_strangers(tmp_path, memory, remotes):
    one, two = repo(tmp_path / "w/one/api"), repo(tmp_path / "w/two/api")
    if remotes:
        git(one, "remote", "add", "origin", "https://example.org/org1/api.git")
        git(two, "remote", "add", "origin", "https://example.org/org2/api.git")
    memory.at(one).remember("Only for one: crane")
    assert memory.at(two).hits("crane") == ()
    assert memory.at(two).remember("For two").store != memory.at(one).store.name


def test_p12_two_spellings_of_one_directory(memory, tmp_path):
    made = memory.remember("The stork")
    (tmp_path / "alias").symlink_to(memory.cwd)
    (tmp_path / "up").symlink_to(tmp_path)
    for place in (tmp_path / "alias", tmp_path / "up/proj", tmp_path / "up/up/alias"):
        assert memory.at(place).where().scopes[0].store == made.store
        assert memory.at(place).remember(f"via {place}").store == made.store
    assert len(list((tmp_path / "coffer/memory/projects").iterdir())) == 1


FORMATS = {
    "relativeWorktrees": [
        ("config", "core.repositoryformatversion", "1"),
        ("config", "extensions.relativeWorktrees", "true"),
    ],
    "worktreeConfig": [("config", "extensions.worktreeConfig", "true")],
    "partialClone": [("config", "core.repositoryformatversion", "1"), ("config", "extensions.partialClone", "origin")],
    "unknown": [("config", "core.repositoryformatversion", "1"), ("config", "extensions.fromTheFuture", "yes")],
    "reftable": [("config", "core.repositoryformatversion", "1"), ("config", "extensions.refStorage", "reftable")],
    "version": [("config", "core.repositoryformatversion", "99")],
}


@pytest.mark.parametrize("name", FORMATS)
def test_p14_newer_formats_of_the_projects_repository(tmp_path, memory, name):
    path = repo(tmp_path / "new", *FORMATS[name][-1:], *FORMATS[name][:-1])
    there = memory.at(path)
    made = there.remember("The spoonbill")
    assert there.texts("spoonbill") == ["The spoonbill"]
    assert there.where().scopes[0].store == made.store
    there.sound()


def test_p14_sha256_and_an_empty_config(tmp_path, memory):
    path = tmp_path / "sha"
    path.mkdir()
    git(path, "init", "-q", "--object-format=sha256")
    git(path, "commit", "-q", "--allow-empty", "-m", "x")
    assert memory.at(path).remember("The ibis").commit
    (path / ".git/config").write_text("")
    assert memory.at(path).texts("ibis") == ["The ibis"]


def test_p16_nothing_of_one_project_shows_in_another(memory, tmp_path):
    made = memory.remember("Use tabs like the avocet")
    memory.put("knowledge/topic.md", "# Avocet topic\n\nMore on the avocet.\n")
    other = memory.at(repo(tmp_path / "b"))
    other.remember("Its own fact")
    for mode in ("keyword", "grep", "vector", "hybrid"):
        assert other.hits("avocet", mode=mode) == ()
        assert other.hits("tabs", mode=mode) == ()
    shown = f"{other.list(lane='all')}{other.log()}{other.status()}{other.where()}"
    assert "avocet" not in shown
    assert made.store not in shown
    from cofferctl.selecting import NoSuchFact

    for selector in (made.id, made.path):
        with pytest.raises(NoSuchFact):
            other.show(selector)
    assert other.remember("Use tabs like the avocet").duplicate_of is None
