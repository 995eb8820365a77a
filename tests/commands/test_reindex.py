"""reindex: the search index, brought up to date or built anew."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("full", [False, True])
def test_every_store_used_here_is_indexed(memory, full):
    memory.remember("one")
    memory.remember("two", scope="global")
    answer = memory.reindex(full=full)
    assert [(store.store, store.files, store.index) for store in answer.stores] == [
        (memory.store.name, 1, "current"),
        ("global", 1, "current"),
    ]
    assert memory.status().stores[0].index == "current"


def test_nothing_to_index(memory, tmp_path):
    assert memory.reindex().stores == ()
    assert not (tmp_path / "coffer").exists()


def test_it_touches_no_fact_and_makes_no_commit(memory):
    made = memory.remember("one")
    before = (memory.head(), memory.file(made.path).stat().st_mtime_ns)
    memory.reindex(full=True)
    assert (memory.head(), memory.file(made.path).stat().st_mtime_ns) == before
    memory.sound()


def test_an_index_can_live_elsewhere(memory, tmp_path):
    memory.env = {"COFFER_INDEX_DIR": str(tmp_path / "indexes")}
    memory.remember("The wren")
    memory.reindex()
    assert memory.texts("wren") == ["The wren"]
    assert not memory.file(".git/coffer-index").exists()
    assert list((tmp_path / "indexes").iterdir())
