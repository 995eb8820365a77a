"""A damaged store is named, and takes nothing else along."""

from __future__ import annotations

import shutil

import pytest

from cofferctl.commands.stores import list_stores
from cofferctl.errors import CofferError


def _head_garbage(git_dir):
    (git_dir / "HEAD").write_text("garbage\n")


def _head_empty(git_dir):
    (git_dir / "HEAD").write_text("")


def _head_gone(git_dir):
    (git_dir / "HEAD").unlink()


def _head_loops(git_dir):
    (git_dir / "HEAD").write_text("ref: HEAD\n")


def _ref_garbage(git_dir):
    for ref in (git_dir / "refs/heads").rglob("*"):
        if ref.is_file():
            ref.write_text("zzzz\n")


def _ref_empty(git_dir):
    for ref in (git_dir / "refs/heads").rglob("*"):
        if ref.is_file():
            ref.write_text("")


def _objects_gone(git_dir):
    shutil.rmtree(git_dir / "objects")


def _objects_lost(git_dir):
    shutil.rmtree(git_dir / "objects")
    (git_dir / "objects").mkdir()


def _objects_empty(git_dir):
    for path in (git_dir / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"")


def _objects_garbage(git_dir):
    for path in (git_dir / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"\xa5" * 40)


def _git_gone(git_dir):
    shutil.rmtree(git_dir)


def _git_a_file(git_dir):
    shutil.rmtree(git_dir)
    git_dir.write_text("gitdir: /nowhere\n")


def _config_junk(git_dir):
    (git_dir / "config").write_text("[[[\n")


def _index_junk(git_dir):
    (git_dir / "index").write_bytes(b"DIRC\0\0")


def _newer(git_dir):
    toml = git_dir.parent / "store.toml"
    toml.write_text(toml.read_text().replace("format = 1", "format = 9"))


def _extension(git_dir):
    (git_dir / "config").write_text("[core]\nrepositoryformatversion = 1\n[extensions]\nfromTheFuture = yes\n")


DAMAGE = (
    _head_garbage,
    _head_empty,
    _head_gone,
    _head_loops,
    _ref_garbage,
    _ref_empty,
    _objects_gone,
    _objects_lost,
    _objects_empty,
    _objects_garbage,
    _git_gone,
    _git_a_file,
    _config_junk,
    _index_junk,
    _newer,
    _extension,
)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_store_takes_no_other_along(memory, damage):
    memory.remember("The project's own plover")
    made = memory.remember("The plover everywhere", scope="global")
    memory.recall("plover")
    damage(memory.everywhere.git_dir)
    assert "The project's own plover" in memory.texts("plover")
    assert "The project's own plover" in memory.texts("plover", mode="grep")
    memory.reindex(full=True)
    assert "The project's own plover" in [item.title for item in memory.list().facts]
    assert "remember: The project's own plover" in [entry.subject for entry in memory.log().entries]
    assert memory.store.name in [found.store for found in memory.status().stores]
    memory.where()
    assert memory.store.name in [found.store for found in list_stores(memory.coffer).stores]
    assert memory.show(memory.list(scope="project").facts[0].id)
    assert memory.remember("More of the plover").commit
    memory.sound()
    refused = None
    try:
        memory.remember("A fact for the damaged one", scope="global")
    except CofferError as error:
        refused = error.exit_code
    assert refused in (None, 5, 6)
    assert memory.everywhere.directory.joinpath(made.path).read_text().endswith("The plover everywhere\n")


@pytest.mark.parametrize("damage", [_objects_gone, _git_gone, _git_a_file], ids=lambda damage: damage.__name__)
def test_a_store_without_its_repository_is_named_and_never_written_over(memory, damage):
    memory.remember("The plover everywhere", scope="global")
    damage(memory.everywhere.git_dir)
    for answer in (memory.recall("plover"), memory.list(), memory.log(), memory.status()):
        assert str(memory.everywhere.directory) in " ".join(answer.notices)
    with pytest.raises(CofferError) as caught:
        memory.remember("Another", scope="global")
    assert str(memory.everywhere.directory) in caught.value.message
    assert not list(memory.everywhere.directory.parent.glob(".new-*"))
