"""where and status: which stores are used from here, and how they are."""

from __future__ import annotations

from pathlib import Path


def test_where_before_the_first_write(memory, tmp_path):
    place = memory.where()
    assert place.project_root == str(memory.cwd)
    assert place.branch == "main"
    project, everywhere = place.scopes
    assert (project.scope, project.store, project.store_dir, project.exists) == ("project", None, None, False)
    assert (everywhere.scope, everywhere.store, everywhere.exists) == ("global", "global", False)
    assert not (tmp_path / "coffer").exists()


def test_where_after_it(memory):
    made = memory.remember("x")
    used = memory.where().scopes[0]
    assert (used.store, used.exists) == (made.store, True)
    assert used.store_dir == str(memory.store.directory)


def test_where_there_is_no_project(memory, tmp_path):
    place = memory.at(tmp_path).where()
    assert (place.project_root, place.branch) == (None, None)
    assert [used.scope for used in place.scopes] == ["global"]


def test_status_counts_facts_and_edits_and_says_how_the_index_is(memory):
    memory.remember("one")
    memory.remember("two")
    (store,) = memory.status().stores
    assert (store.facts, store.uncommitted, store.index, store.notices) == (2, 0, "missing", ())
    memory.recall("one")
    assert memory.status().stores[0].index == "current"
    memory.put("knowledge/topic.md", "A topic\n")
    store = memory.status().stores[0]
    assert (store.facts, store.uncommitted, store.index) == (3, 1, "behind")


def test_status_changes_nothing(memory):
    memory.remember("one")
    memory.put("knowledge/topic.md", "A topic\n")
    head = memory.head()
    memory.status()
    assert memory.head() == head
    assert memory.status().stores[0].index == "missing"


def test_status_names_what_is_odd(memory):
    memory.remember("one")
    memory.put("knowledge/inbox/big.md", "x" * 1_000_001)
    memory.put("knowledge/inbox/binary.md", b"a\0b")
    memory.file("knowledge/inbox/link.md").symlink_to("/etc/passwd")
    notices = " ".join(memory.status().stores[0].notices)
    for name in ("big.md", "binary.md", "link.md"):
        assert name in notices


def test_status_tells_of_a_merge(memory):
    memory.remember("one")
    memory.file(".git/MERGE_HEAD").write_text(memory.head() + "\n")
    assert "a merge" in memory.status().stores[0].notices[-1]


def test_status_tells_of_many_files_gone(memory):
    for number in range(10):
        memory.remember(f"fact {number}")
    for path in Path(memory.file("knowledge/inbox")).glob("*.md"):
        path.unlink()
    assert "10 of 10 files are gone" in memory.status().stores[0].notices[0]


def test_status_of_nothing(memory, tmp_path):
    assert memory.status().stores == ()
    assert memory.status().home == str(tmp_path / "coffer")
