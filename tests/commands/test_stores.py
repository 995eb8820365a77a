"""stores: which memories there are, and which project uses which."""

from __future__ import annotations

import pytest
from support.memory import git

from cofferctl.commands.stores import NotConfirmed, link, list_stores, show_store
from cofferctl.scope import ScopeUnresolved
from cofferctl.store import NoSuchStore


def another(tmp_path, memory):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    return memory.at(other)


def test_a_list_of_every_store(memory, tmp_path):
    memory.remember("one")
    memory.remember("two", scope="global")
    memory.put("rules/r.md", "A rule is no fact\n")
    everywhere, project = list_stores(another(tmp_path, memory).coffer).stores
    assert (everywhere.store, everywhere.fact_count, everywhere.project_root) == ("global", 1, None)
    assert (project.store, project.scope, project.fact_count) == (memory.store.name, "project", 1)
    assert (project.label, project.project_root) == ("proj", str(memory.cwd))
    assert project.store_dir == str(memory.store.directory)
    assert project.disk_bytes > 1_000


def test_no_stores(memory):
    assert list_stores(memory.coffer).stores == ()


def test_a_store_in_full(memory):
    memory.remember("one")
    memory.put("rules/r.md", "A rule\n")
    memory.put(
        "store.toml",
        memory.file("store.toml").read_text()
        + 'label = "My shop"\ntop_k = 3\nembedding_model = "x"\nmax_fact_chars = 100\n',
    )
    found = show_store(memory.coffer, memory.store.name)
    assert (found.label, found.head) == ("My shop", memory.head())
    assert (found.lanes["inbox"], found.lanes["rules"], found.lanes["topics"]) == (1, 1, 0)
    assert found.settings["max_fact_chars"] == 100
    assert found.ignored_settings == ("embedding_model",)
    assert found.project_roots == (str(memory.cwd),)


@pytest.mark.parametrize("name", ["global", "project-", "project-01HZXK5Q8V7N3M2P4R6S8T0W1Y", "../x", ""])
def test_a_store_that_is_none(memory, name):
    with pytest.raises(NoSuchStore):
        show_store(memory.coffer, name)


def test_a_project_can_be_linked_to_a_store(memory, tmp_path):
    memory.remember("The shared badger")
    other = another(tmp_path, memory)
    own = other.remember("Its own")
    assert not other.hits("badger")
    with pytest.raises(NotConfirmed):
        link(other.coffer, memory.store.name, yes=False)
    assert other.store.name == own.store
    done = link(other.coffer, memory.store.name, yes=True)
    assert (done.store, done.previous, done.project_root) == (memory.store.name, own.store, str(other.cwd))
    assert other.texts("badger") == ["The shared badger"]
    assert {store.store for store in list_stores(memory.coffer).stores} == {memory.store.name, own.store}


def test_what_cannot_be_linked(memory, tmp_path):
    memory.remember("x")
    memory.remember("x", scope="global")
    with pytest.raises(NoSuchStore):
        link(memory.coffer, "global", yes=True)
    with pytest.raises(NoSuchStore):
        link(memory.coffer, "project-01HZXK5Q8V7N3M2P4R6S8T0W1Y", yes=True)
    with pytest.raises(ScopeUnresolved):
        link(memory.at(tmp_path).coffer, memory.store.name, yes=True)
