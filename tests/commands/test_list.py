"""list: what there is, without searching."""

from __future__ import annotations

from pathlib import Path

import pytest

from cofferctl.choices import BadChoice

TITLED = "---\ntitle: {0}\ncreated_at: {1}\nupdated_at: {2}\n---\n{0} text\n"


@pytest.fixture
def shelf(memory):
    memory.remember("makes the store")
    memory.put("knowledge/inbox/b.md", TITLED.format("banana", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z"))
    memory.put("knowledge/inbox/a.md", TITLED.format("Apple", "2026-01-01T00:00:00Z", "2026-01-09T00:00:00Z"))
    memory.put("knowledge/c.md", TITLED.format("cherry", "2026-01-02T00:00:00+05:00", "2026-01-02T00:00:00+05:00"))
    memory.put("rules/r.md", "A rule\n")
    memory.put("journal/2026-01-01.md", "# day\n")
    memory.put("superseded/old.md", "Old\n")
    memory.put("handoff/main.md", "Hand over\n")
    return memory


def titles(found):
    return [item.title for item in found.facts if item.title != "makes the store"]


def test_the_default_is_knowledge_newest_update_first(shelf):
    found = shelf.list()
    assert titles(found) == ["Apple", "banana", "cherry"]
    assert found.left_out == 0
    assert found.stores == (shelf.store.name, "global")


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("updated", ["Apple", "banana", "cherry"]),
        ("created", ["banana", "cherry", "Apple"]),
        ("title", ["Apple", "banana", "cherry"]),
    ],
)
def test_sorting(shelf, sort, wanted):
    assert titles(shelf.list(sort=sort)) == wanted


@pytest.mark.parametrize(
    ("lane", "count"),
    [
        ("inbox", 3),
        ("topics", 1),
        ("knowledge", 4),
        ("rules", 1),
        ("journal", 1),
        ("superseded", 1),
        ("handoff", 1),
        ("all", 8),
    ],
)
def test_lanes(shelf, lane, count):
    assert len(shelf.list(lane=lane).facts) == count


def test_a_limit_says_how_many_it_left_out(shelf):
    found = shelf.list(limit=1)
    assert (len(found.facts), found.left_out) == (1, 3)


@pytest.mark.parametrize("options", [{"lane": "attic"}, {"sort": "size"}, {"limit": 0}, {"limit": -3}])
def test_a_choice_that_is_none_is_refused(memory, options):
    with pytest.raises(BadChoice):
        memory.list(**options)


def test_paths_are_absolute_and_times_are_utc(shelf):
    item = next(item for item in shelf.list().facts if item.title == "cherry")
    assert Path(item.path) == shelf.file("knowledge/c.md")
    assert Path(item.folder_path) == shelf.file("knowledge")
    assert item.created_at == "2026-01-01T19:00:00+00:00"
    assert item.actor == "outside"


def test_a_file_without_times_has_that_of_its_last_commit(shelf):
    shelf.put("knowledge/plain.md", "No head here\n")
    shelf.days_ago(3).remember("commits the outside edit three days ago")
    item = next(item for item in shelf.list().facts if item.title == "No head here")
    commit = next(entry for entry in shelf.log().entries if entry.event == "outside_edit")
    assert item.updated_at == commit.time


def test_nothing_is_listed_where_nothing_is(memory):
    assert memory.list().facts == ()
    assert memory.at(Path("/")).list().stores == ("global",)


def test_secrets_in_titles_and_descriptions_are_masked(shelf):
    token = "AKIA" + "ABCDEFGHIJKLMNOP"
    shelf.put("knowledge/inbox/k.md", f"---\ntitle: {token}\ndescription: it is {token}\n---\nx\n")
    assert token not in str(shelf.list())


def test_a_hundred_odd_files_leave_the_rest_listed(shelf):
    for number in range(100):
        shelf.put(f"knowledge/inbox/odd-{number}.md", bytes([number, 0xFF, 0xFE]) * 7)
    assert set(titles(shelf.list())) >= {"Apple", "banana", "cherry"}
