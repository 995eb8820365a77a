"""stores label, config, clear and delete."""

from __future__ import annotations

import json

import pytest
from support.cli import cli
from support.memory import git

from cofferctl import files, store
from cofferctl.choices import BadChoice
from cofferctl.commands.settings import DamagedSettings
from cofferctl.commands.stores import NotConfirmed, list_stores, show_store
from cofferctl.commands.stores_change import (
    NoSuchStoreSetting,
    clear,
    delete,
    label,
    set_store_setting,
    store_setting,
    store_settings,
)
from cofferctl.commands.undo import undo
from cofferctl.config import BadSetting
from cofferctl.intake import Rejected
from cofferctl.store import NoSuchStore

NOBODY = "project-01HZXK5Q8V7N3M2P4R6S8T0W1Y"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def name(memory):
    return memory.remember("A fact about the heron").store


def named(memory, name):
    return show_store(memory.coffer, name).label


# label


def test_a_label_is_given_changed_and_taken_away(memory, name):
    done = label(memory.coffer, name, "  My \n shop ")
    assert (done.label, named(memory, name), done.commit) == ("My shop", "My shop", memory.head())
    (entry, *_) = memory.log().entries
    assert (entry.event, entry.subject, entry.actor) == ("memory_updated", "label: My shop", "user")
    memory.sound()
    label(memory.coffer, name, "Other")
    assert named(memory, name) == "Other"
    assert label(memory.coffer, name, "").label is None
    assert named(memory, name) == memory.cwd.name
    memory.sound()


def test_the_same_label_again_is_no_commit(memory, name):
    label(memory.coffer, name, "One")
    assert label(memory.coffer, name, "One").commit is None


def test_a_label_keeps_comments_and_what_else_there_is(memory, name):
    before = memory.file("store.toml").read_text() + "# mine\ntop = 1 # also mine\n"
    memory.put("store.toml", before)
    label(memory.coffer, name, 'With "quotes"')
    after = memory.file("store.toml").read_text()
    assert after.startswith(before)
    label(memory.coffer, name, "")
    assert memory.file("store.toml").read_text() == before
    memory.sound()


def test_a_label_can_be_undone(memory, name):
    label(memory.coffer, name, "One")
    undo(memory.coffer)
    assert named(memory, name) == memory.cwd.name
    memory.sound()


def test_labels_that_are_refused(memory, name):
    with pytest.raises(Rejected):
        label(memory.coffer, name, TOKEN)
    with pytest.raises(Rejected):
        label(memory.coffer, name, "x" * 100)
    memory.put("store.toml", "= [broken\n")
    with pytest.raises(DamagedSettings):
        label(memory.coffer, name, "x")
    assert memory.file("store.toml").read_text() == "= [broken\n"


# config


def test_a_stores_settings_are_set_and_got(memory, name):
    memory.put("store.toml", memory.file("store.toml").read_text() + "# kept\n")
    done = set_store_setting(memory.coffer, name, "max_fact_chars", "100")
    assert (done.value, done.commit) == (100, memory.head())
    assert "# kept" in memory.file("store.toml").read_text()
    with pytest.raises(Rejected):
        memory.remember("x" * 101)
    got = store_setting(memory.coffer, name, "max_fact_chars")
    assert (got.value, got.source) == (100, str(memory.file("store.toml")))
    set_store_setting(memory.coffer, name, "retrieval_modes", "keyword,grep")
    values = {found.key: found.value for found in store_settings(memory.coffer, name).settings}
    assert values == {"default_mode": "keyword", "max_fact_chars": 100, "retrieval_modes": ["keyword", "grep"]}
    memory.sound()


def test_where_a_stores_setting_comes_from(memory, name, tmp_path):
    (tmp_path / "coffer/config.toml").write_text("max_fact_chars = 99\n")
    found = {item.key: (item.value, item.source) for item in store_settings(memory.coffer, name).settings}
    assert found["max_fact_chars"] == (99, str(tmp_path / "coffer/config.toml"))
    assert found["default_mode"] == ("keyword", "default")


def test_settings_that_are_none(memory, name):
    with pytest.raises(NoSuchStoreSetting):
        set_store_setting(memory.coffer, name, "top_k", "3")
    with pytest.raises(NoSuchStoreSetting):
        store_setting(memory.coffer, name, "id")
    with pytest.raises(BadSetting):
        set_store_setting(memory.coffer, name, "max_fact_chars", "many")


def test_embedding_settings_are_accepted_and_ignored(memory, name):
    done = set_store_setting(memory.coffer, name, "embedding_model", "bge-m3")
    assert "ignored" in " ".join(done.notices)
    assert store_settings(memory.coffer, name).ignored == ("embedding_model",)
    assert store_setting(memory.coffer, name, "embedding_model").value == "bge-m3"
    assert store_setting(memory.coffer, name, "embedding_provider").value is None
    with pytest.raises(Rejected):
        set_store_setting(memory.coffer, name, "embedding_api_key", TOKEN)


# clear


def test_clear_forgets_knowledge_only_and_can_be_undone(memory, name):
    memory.put("knowledge/topic.md", "A topic about herons\n")
    memory.put("rules/r.md", "- a rule\n")
    memory.put("journal/2026-06-09.md", "## 10:00 x\nheron\n")
    memory.remember("second")
    done = clear(memory.coffer, name, yes=True)
    assert (done.cleared, done.lane, done.commit) == (3, "knowledge", memory.head())
    assert memory.list().facts == ()
    assert memory.file("rules/r.md").exists()
    assert memory.file("journal/2026-06-09.md").exists()
    (entry, *_) = memory.log().entries
    assert (entry.event, entry.operation, entry.id) == ("memory_cleared", done.operation, None)
    memory.sound()
    undo(memory.coffer)
    assert len(memory.list().facts) == 3
    assert memory.texts("topic")
    memory.sound()


@pytest.mark.parametrize(
    ("lane", "left"),
    [("inbox", {"topics", "rules"}), ("topics", {"inbox", "rules"}), ("rules", {"inbox", "topics"}), ("all", set())],
)
def test_clear_of_another_lane(memory, name, lane, left):
    memory.put("knowledge/topic.md", "A topic\n")
    memory.put("rules/r.md", "- a rule\n")
    clear(memory.coffer, name, yes=True, lane=lane)
    counts = show_store(memory.coffer, name).lanes
    assert {key for key, count in counts.items() if count} == left


def test_clear_of_nothing_is_no_commit(memory, name):
    head = memory.head()
    done = clear(memory.coffer, name, yes=True, lane="journal")
    assert (done.cleared, done.commit, done.operation) == (0, None, None)
    assert memory.head() == head


def test_clear_leaves_what_is_not_ours_to_read_and_says_so(memory, name):
    memory.put("knowledge/inbox/big.md", "x" * 1_000_001)
    done = clear(memory.coffer, name, yes=True)
    assert done.cleared == 1
    assert "knowledge/inbox/big.md stays (over 1 MB)" in done.notices
    assert memory.file("knowledge/inbox/big.md").exists()


def test_clear_commits_outside_edits_first_so_that_nothing_is_lost(memory, name):
    memory.put("knowledge/inbox/mine.md", "Only here: dotterel\n")
    clear(memory.coffer, name, yes=True)
    assert "dotterel" in memory.git("show", "HEAD~1:knowledge/inbox/mine.md")


def test_what_cannot_be_cleared(memory, name):
    head = memory.head()
    with pytest.raises(NotConfirmed):
        clear(memory.coffer, name, yes=False)
    with pytest.raises(BadChoice):
        clear(memory.coffer, name, yes=True, lane="cellar")
    with pytest.raises(NoSuchStore):
        clear(memory.coffer, NOBODY, yes=True)
    assert memory.head() == head


# delete


def deleted_leftovers(tmp_path):
    return list((tmp_path / "coffer/memory").glob(".deleted-*"))


def test_delete_takes_the_whole_store_and_only_that(memory, name, tmp_path):
    memory.remember("Global stays", scope="global")
    assert memory.texts("heron")
    done = delete(memory.coffer, name, yes=True)
    assert done.store == name
    assert not (tmp_path / "coffer/memory/projects" / name.removeprefix("project-")).exists()
    assert deleted_leftovers(tmp_path) == []
    assert [found.store for found in list_stores(memory.coffer).stores] == ["global"]
    assert memory.texts("heron") == []
    assert memory.texts("stays")
    (line,) = (tmp_path / "coffer/events.jsonl").read_text().splitlines()
    event = json.loads(line)
    assert (event["event"], event["store"], event["actor"]) == ("store_deleted", name, "user")
    assert "heron" not in line


def test_a_project_begins_anew_after_a_delete(memory, name):
    delete(memory.coffer, name, yes=True)
    again = memory.remember("A new beginning")
    assert again.store == name
    assert [fact.title for fact in memory.list().facts] == ["A new beginning"]
    memory.sound()


def test_the_global_store_can_be_deleted(memory):
    memory.remember("x", scope="global")
    delete(memory.coffer, "global", yes=True)
    assert list_stores(memory.coffer).stores == ()


def test_delete_needs_to_be_confirmed(memory, name):
    with pytest.raises(NotConfirmed):
        delete(memory.coffer, name, yes=False)
    assert memory.texts("heron")
    with pytest.raises(NoSuchStore):
        delete(memory.coffer, NOBODY, yes=True)


def test_a_delete_that_died_is_completed_by_the_next(memory, name, tmp_path, monkeypatch):
    memory.remember("x", scope="global")
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    assert delete(memory.coffer, name, yes=True).notices
    monkeypatch.undo()
    monkeypatch.setenv("COFFER_HOME", str(tmp_path / "coffer"))
    (left,) = deleted_leftovers(tmp_path)
    assert (left / ".git/HEAD").exists()
    assert [found.store for found in list_stores(memory.coffer).stores] == ["global"]
    delete(memory.coffer, "global", yes=True)
    assert deleted_leftovers(tmp_path) == []


def test_an_index_that_is_kept_elsewhere_goes_too(memory, tmp_path):
    outside = memory.at(memory.cwd)
    outside.env = {"COFFER_INDEX_DIR": str(tmp_path / "indexes")}
    made = outside.remember("The kite")
    assert outside.texts("kite")
    assert any((tmp_path / "indexes").iterdir())
    delete(outside.coffer, made.store, yes=True)
    assert not any((tmp_path / "indexes").iterdir())


def test_a_store_in_use_is_not_deleted(memory, name, monkeypatch):
    real = files.lock
    monkeypatch.setattr(files, "lock", lambda path, **_: real(path, timeout=0.05))
    with real(memory.store.private / "lock"), pytest.raises(files.Busy):
        delete(memory.coffer, name, yes=True)
    assert memory.texts("heron")


def test_a_writer_that_waited_for_a_deleted_store_brings_nothing_back(memory, name, tmp_path):
    directory = memory.store.directory
    delete(memory.coffer, name, yes=True)
    with pytest.raises(files.NotWritable), files.lock(directory / ".git/coffer/lock", timeout=0):
        pass
    assert not directory.exists()


# the command line


@pytest.mark.parametrize("verb", ["clear", "delete"])
def test_without_yes_and_without_a_terminal_nothing_happens(memory, name, verb, monkeypatch):
    monkeypatch.chdir(memory.cwd)
    answer = cli("stores", verb, name)
    assert (answer.code, answer.error["code"]) == (2, "USAGE")
    assert "--yes" in answer.error["hint"]
    assert memory.texts("heron")
    assert cli("stores", verb, name, "--yes").code == 0
    assert memory.texts("heron") == []


def test_settings_by_the_command_line(memory, name, monkeypatch):
    monkeypatch.chdir(memory.cwd)
    assert cli("stores", "config", name, "max_fact_chars", "2000").data["value"] == 2000
    assert cli("stores", "config", name, "max_fact_chars").data["value"] == 2000
    listed = cli("stores", "config", name).data
    assert {"store", "settings", "ignored", "notices"} == set(listed)
    assert cli("stores", "config", name, "nonsense").code == 2
    assert cli("stores", "label", name, "Shop").data["label"] == "Shop"
    assert cli("stores", "label", NOBODY, "Shop").code == 3
    assert git(memory.store.directory, "status", "--porcelain") == ""
    assert store.existing(memory.coffer.config.home)
