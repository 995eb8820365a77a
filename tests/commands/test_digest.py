"""digest: what was learnt, changed and forgotten, by whom."""

from __future__ import annotations

import pytest

from cofferctl.commands.digest import NoSession, digest
from cofferctl.commands.edit import edit
from cofferctl.commands.forget import forget
from cofferctl.commands.move import move
from cofferctl.commands.supersede import supersede
from cofferctl.dates import BadDate

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def told(memory, **options):
    answer = digest(memory.coffer, **options)
    return tuple([item.title for item in part] for part in (answer.learnt, answer.changed, answer.forgotten))


def test_three_kinds_and_who(memory):
    old = memory.days_ago(20).remember("The port is 2222")
    gone = memory.days_ago(20).remember("The well is dry")
    memory.days_ago(3).remember("The gate is shut", actor="agent", agent="otter", session="s1")
    memory.days_ago(2).remember("Answer shortly", scope="global")
    supersede(memory.days_ago(2).coffer, old.id, "The port is 2022", actor="agent", agent="otter")
    forget(memory.days_ago(1).coffer, [gone.id])
    answer = digest(memory.coffer)
    assert told(memory) == (["Answer shortly", "The gate is shut"], ["The port is 2022"], ["The well is dry"])
    assert answer.changed[0].old_title == "The port is 2222"
    assert [(s.who, s.learnt, s.changed, s.forgotten) for s in answer.by] == [("user", 1, 0, 1), ("otter", 1, 1, 0)]
    assert answer.commits == 4
    assert (answer.learnt[1].session, answer.learnt[0].scope) == ("s1", "global")
    assert told(memory, since="36h") == ([], [], ["The well is dry"])
    assert told(memory, scope="global")[0] == ["Answer shortly"]


def test_a_fact_is_told_once(memory):
    made = memory.days_ago(3).remember("One thing", actor="agent", agent="otter")
    edit(memory.coffer, made.id, title="Another thing")
    answer = digest(memory.coffer)
    assert told(memory) == (["Another thing"], [], [])
    assert answer.learnt[0].who == "otter"
    old = memory.days_ago(20).remember("Old thing")
    edit(memory.days_ago(2).coffer, old.id, title="Old thing 2")
    edit(memory.days_ago(1).coffer, old.id, title="Old thing 3")
    (item,) = digest(memory.coffer).changed
    assert (item.title, item.old_title) == ("Old thing 3", "Old thing")
    forget(memory.coffer, [made.id])
    assert told(memory) == ([], ["Old thing 3"], ["Another thing"])


def test_outside_edits_moves_and_imports(memory):
    made = memory.days_ago(20).remember("The gate is shut")
    memory.days_ago(20).remember("The well is dry")
    memory.file(made.path).write_text(memory.file(made.path).read_text().replace("gate is shut", "gate is open"))
    memory.put("knowledge/by-hand.md", "# By hand\n")
    memory.remember("next")
    answer = digest(memory.coffer)
    assert {(item.title, item.who) for item in answer.learnt} == {("By hand", "outside"), ("next", "user")}
    assert answer.changed[0].old_title == "The gate is shut"
    move(memory.coffer, made.id, "global")
    assert [item.store for item in digest(memory.coffer).changed if item.event == "memory_moved"] == ["global"]
    assert digest(memory.coffer).forgotten == ()
    memory.import_lines('{"text": "imported one"}', '{"text": "imported two"}')
    assert {"imported one", "imported two"} <= set(told(memory)[0])


def test_journal_entries_are_learnt_one_by_one(memory):
    memory.days_ago(20).remember("x")
    memory.put("journal/2026-06-01.md", "## 10:00 Morning\ntext\n")
    memory.remember("y")
    memory.put("journal/2026-06-01.md", "## 10:00 Morning\ntext\n\n## 11:00 Noon\ntext\n")
    memory.remember("z")
    assert {"Morning", "Noon"} <= set(told(memory)[0])


def test_since_a_commit_or_the_last_session(memory):
    first = memory.days_ago(30).remember("one", actor="agent", agent="otter", session="s1")
    memory.days_ago(20).remember("two", actor="agent", agent="otter", session="s2")
    memory.days_ago(19).remember("three", scope="global")
    memory.days_ago(18).remember("four", actor="agent", agent="otter", session="s2")
    assert told(memory, since=first.commit[:10])[0] == ["four", "three", "two"]
    assert told(memory, since="last-session")[0] == ["four", "three", "two"]
    with pytest.raises(BadDate):
        digest(memory.coffer, since="whenever")


def test_no_session_and_nothing_at_all(memory):
    assert told(memory) == ([], [], [])
    memory.remember("x")
    with pytest.raises(NoSession):
        digest(memory.coffer, since="last-session")


def test_secrets_are_masked(memory):
    memory.remember("x")
    memory.put("knowledge/odd.md", f"# The token {TOKEN}\n")
    memory.remember("y")
    assert TOKEN not in str(digest(memory.coffer))
