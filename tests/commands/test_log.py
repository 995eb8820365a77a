"""log: who taught the memory what, and when."""

from __future__ import annotations

import pytest

from cofferctl.choices import BadChoice
from cofferctl.dates import BadDate
from cofferctl.selecting import NoSuchFact


def test_an_entry_tells_everything_of_its_commit(memory):
    made = memory.remember("The gate is shut", actor="agent", agent="otter", session="s1")
    (entry,) = memory.log().entries
    assert (entry.commit, entry.id, entry.event, entry.title) == (
        made.commit,
        made.id,
        "memory_added",
        "The gate is shut",
    )
    assert (entry.actor, entry.agent, entry.session, entry.operation) == ("agent", "otter", "s1", made.id)
    assert made.path in entry.paths
    assert entry.store == memory.store.name
    assert entry.subject == "remember: The gate is shut"


def test_both_stores_newest_first(memory):
    memory.days_ago(3).remember("one")
    memory.days_ago(2).remember("two", scope="global")
    memory.days_ago(1).remember("three")
    assert [entry.title for entry in memory.log().entries] == ["three", "two", "one"]
    assert [entry.title for entry in memory.log(scope="global").entries] == ["two"]


def test_filters(memory):
    memory.days_ago(9).remember("by me")
    memory.days_ago(1).remember("by an agent", actor="agent", agent="otter")
    memory.put("knowledge/topic.md", "# Topic\n")
    memory.remember("last")

    def found(**options):
        return [entry.title for entry in memory.log(**options).entries]

    assert found(actor="agent") == ["by an agent"]
    assert len(found(actor="outside")) == 1
    assert len(found(event="outside_edit")) == 1
    assert len(found(lane="topics")) == 1
    assert len(found(lane="inbox")) == 3
    assert "by me" not in found(since="3d")
    assert found(limit=1) == ["last"]


@pytest.mark.parametrize("options", [{"actor": "cat"}, {"event": "x"}, {"lane": "attic"}, {"limit": 0}])
def test_a_filter_that_is_none_is_refused(memory, options):
    with pytest.raises(BadChoice):
        memory.log(**options)


def test_a_date_that_is_none_is_refused(memory):
    with pytest.raises(BadDate):
        memory.log(since="whenever")


def test_one_facts_commits(memory):
    made = memory.remember("The gate is shut")
    memory.remember("other")
    memory.file(made.path).write_text(memory.file(made.path).read_text().replace("shut", "open"))
    memory.remember("third")
    for selector in (
        made.id,
        made.id[:8] if len({item.id[:8] for item in memory.list().facts}) == 3 else made.id,
        made.path,
    ):
        assert [entry.event for entry in memory.log(selector).entries] == ["outside_edit", "memory_added"]
    with pytest.raises(NoSuchFact):
        memory.log("knowledge/inbox/none.md")


def test_a_plain_git_commit_is_from_outside(memory):
    memory.remember("x")
    memory.put("knowledge/by-hand.md", "By hand\n")
    memory.git("add", "-A")
    memory.git("commit", "-qm", "notes: mine\n\nCoffer-Thing: odd")
    entry = memory.log().entries[0]
    assert (entry.event, entry.actor, entry.id, entry.agent) == ("outside_edit", "outside", None, None)
    assert entry.paths == ("knowledge/by-hand.md",)


def test_a_commit_cannot_pretend_an_unknown_event(memory):
    memory.remember("x")
    memory.git(
        "commit", "-q", "--allow-empty", "-m", "odd\n\nCoffer-Event: \x1b[31mboom\nCoffer-Actor: root\nCoffer-Id: ../.."
    )
    entry = memory.log().entries[0]
    assert entry.event == "outside_edit"
    assert entry.actor == "outside"


def test_a_hundred_commits_and_a_notice(memory):
    memory.remember("x")
    for number in range(105):
        memory.git("commit", "-q", "--allow-empty", "-m", f"n{number}")
    answer = memory.log()
    assert len(answer.entries) == 100
    assert "100" in answer.notices[0]
    assert len(memory.log(limit=500).entries) == 106


def test_secrets_in_subjects_are_masked(memory):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    memory.remember("x")
    memory.git("commit", "-q", "--allow-empty", "-m", f"oops {token}")
    assert token not in str(memory.log())


def test_an_empty_memory_has_no_log(memory):
    assert memory.log().entries == ()


def test_no_text_can_write_itself_a_trailer(memory):
    evil = "x\n\nCoffer-Event: purged\nCoffer-Actor: outside\nCoffer-Id: 01HZXK5Q8V7N3M2P4R6S8T0W1Y"
    made = memory.remember(f"{evil}\n", title=evil, agent=f"otter {evil}", session=evil, actor="agent")
    (entry,) = memory.log().entries
    assert (entry.event, entry.actor, entry.id) == ("memory_added", "agent", made.id)
    assert "\n" not in f"{entry.subject}{entry.agent}{entry.session}"
