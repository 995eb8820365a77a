"""The proof that a directory is a clone: its own objects hold a commit, and nothing that merely looks so counts."""

from __future__ import annotations

import os
import shutil
import zlib
from pathlib import Path

import pytest

from cofferctl.history.prove import holds

NOBODYS = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def commit(project, git):
    git(project, "commit", "-q", "--allow-empty", "-m", "second")
    return git(project, "rev-parse", "HEAD").strip()


def test_a_loose_commit(project, commit):
    assert holds(project / ".git", [NOBODYS, commit])
    assert holds(project / ".git", [commit, NOBODYS])
    assert not holds(project / ".git", [NOBODYS])
    assert not holds(project / ".git", [])
    assert not holds(project / ".git", ["", "zz", commit[:10]])


def test_a_packed_commit(project, commit, git):
    for number in range(30):
        git(project, "commit", "-q", "--allow-empty", "-m", f"commit {number} " + "words " * 50)
    git(project, "gc", "-q", "--prune=now")
    assert not (project / ".git/objects" / commit[:2] / commit[2:]).exists()
    assert holds(project / ".git", [NOBODYS, commit])
    assert not holds(project / ".git", [NOBODYS])


def test_a_sha256_repository(tmp_path, git):
    git(tmp_path, "init", "-q", "--object-format=sha256", "s")
    git(tmp_path / "s", "commit", "-q", "--allow-empty", "-m", "x")
    commit = git(tmp_path / "s", "rev-parse", "HEAD").strip()
    assert len(commit) == 64
    assert holds(tmp_path / "s/.git", [commit])
    git(tmp_path / "s", "repack", "-qad")
    git(tmp_path / "s", "prune-packed")
    assert holds(tmp_path / "s/.git", [commit])


def test_a_tree_or_blob_of_that_id_is_no_commit(project, git):
    (project / "f").write_text("x")
    blob = git(project, "hash-object", "-w", "f").strip()
    assert not holds(project / ".git", [blob])


def test_a_file_that_only_has_the_name(tmp_path, project, commit, git):
    fake = tmp_path / "fake"
    git(tmp_path, "init", "-q", str(fake))
    place = fake / ".git/objects" / commit[:2]
    place.mkdir()
    for content in (
        b"",
        b"junk",
        zlib.compress(b"commit 4\0junk"),
        zlib.compress(b"commit 9999999\0" + b"0" * 5_000_000),
    ):
        (place / commit[2:]).write_bytes(content)
        assert not holds(fake / ".git", [commit])
    (place / commit[2:]).unlink()
    os.mkfifo(place / commit[2:])
    assert not holds(fake / ".git", [commit])


def test_borrowed_objects_do_not_count(tmp_path, project, commit, git):
    victim = project / ".git/objects"
    fake = tmp_path / "fake"
    git(tmp_path, "init", "-q", str(fake))
    objects = fake / ".git/objects"
    (objects / "info/alternates").write_text(f"{victim}\n")
    assert not holds(fake / ".git", [commit])
    (objects / commit[:2]).symlink_to(victim / commit[:2])
    assert not holds(fake / ".git", [commit])
    (objects / commit[:2]).unlink()
    (objects / commit[:2]).mkdir()
    (objects / commit[:2] / commit[2:]).symlink_to(victim / commit[:2] / commit[2:])
    assert not holds(fake / ".git", [commit])
    shutil.rmtree(objects)
    objects.symlink_to(victim)
    assert not holds(fake / ".git", [commit])


def test_borrowed_and_broken_packs_do_not_count(tmp_path, project, commit, git):
    git(project, "repack", "-qad")
    packs = project / ".git/objects/pack"
    fake = tmp_path / "fake"
    git(tmp_path, "init", "-q", str(fake))
    place = fake / ".git/objects/pack"
    place.rmdir()
    place.symlink_to(packs)
    assert not holds(fake / ".git", [commit])
    place.unlink()
    place.mkdir()
    for pack in packs.iterdir():
        (place / pack.name).symlink_to(pack)
    assert not holds(fake / ".git", [commit])
    for pack in packs.iterdir():
        (place / pack.name).unlink()
        shutil.copy(pack, place / pack.name)
    assert holds(fake / ".git", [commit])
    (index,) = place.glob("*.idx")
    index.chmod(0o600)
    whole = index.read_bytes()
    for broken in (b"", whole[:100], whole[:8] + b"\xff" * (len(whole) - 8)):
        index.write_bytes(broken)
        assert not holds(fake / ".git", [commit])
    index.write_bytes(whole)
    (pack,) = place.glob("*.pack")
    pack.chmod(0o600)
    pack.write_bytes(b"\x9f" * 200)
    assert not holds(fake / ".git", [commit])


def test_nothing_there(tmp_path):
    assert not holds(Path(tmp_path) / "nowhere", [NOBODYS])
