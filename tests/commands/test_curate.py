"""edit, supersede, forget, move, restore, undo: what was taught can be changed, taken back and brought back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cofferctl import fact
from cofferctl.commands.edit import InConflict, Unexpected, draft, edit, edit_file
from cofferctl.commands.forget import SeveralStores, forget
from cofferctl.commands.move import SameStore, move
from cofferctl.commands.restore import NothingBefore, restore
from cofferctl.commands.stores import NotConfirmed
from cofferctl.commands.supersede import AlreadySuperseded, supersede
from cofferctl.commands.undo import NothingToUndo, undo
from cofferctl.history.log import NoSuchRevision
from cofferctl.intake import Rejected
from cofferctl.selecting import NoSuchFact

HAND_MADE = b"""\
---
title: 'Hand made'
x-reviewer: team-red   # keep me
nested:
  b: 2
  a: 1
# a comment a person left
date: 2026-03-16
nightly: 10:00
country: NO
aliases: ["one", two]
---
First part.

---

Second part, with a key: value line.
"""


def last(memory) -> str:
    return memory.git("log", "-1", "--format=%s")


def test_editing_the_text_changes_the_text(memory):
    made = memory.remember("The port is 2222.")
    done = edit(memory.coffer, made.id, text="The port is 2022.")
    assert done.changed
    assert done.commit == memory.head()
    shown = memory.show(made.id)
    assert (shown.body, shown.title, shown.description) == (
        "The port is 2022.",
        "The port is 2022",
        "The port is 2022.",
    )
    assert shown.updated_at >= shown.created_at
    assert memory.texts("port") == ["The port is 2022."]
    assert memory.log().entries[0].event == "memory_updated"


def test_a_title_somebody_chose_stays(memory):
    made = memory.remember("The port is 2222.", title="Port", description="d")
    edit(memory.coffer, made.id, text="The port is 2022.")
    assert (memory.show(made.id).title, memory.show(made.id).description) == ("Port", "d")


def test_the_same_again_changes_nothing(memory):
    made = memory.remember("The port is 2222.", title="Port")
    done = edit(memory.coffer, made.id, text="The port is 2222.\n", title="Port")
    assert (done.changed, done.commit) == (False, None)
    assert memory.head() == made.commit


def test_only_the_lines_asked_for_change(memory):
    memory.remember("seed")
    path = memory.file("knowledge/inbox/hand.md")
    path.write_bytes(HAND_MADE)
    edit(memory.coffer, "knowledge/inbox/hand.md", title="New: title")
    new, old = path.read_bytes().splitlines(), HAND_MADE.splitlines()
    assert [line for line in new if line not in old and not line.startswith(b"updated_at:")] == [b'title: "New: title"']
    assert [line for line in old if line not in new] == [b"title: 'Hand made'"]


def test_expect(memory):
    made = memory.remember("One.")
    edit(memory.coffer, made.id, text="Two.")
    with pytest.raises(Unexpected):
        edit(memory.coffer, made.id, text="Three.", expect=made.commit)
    edit(memory.coffer, made.id, text="Three.", expect=memory.head())
    memory.file(made.path).write_bytes(memory.file(made.path).read_bytes().replace(b"Three", b"Four"))
    with pytest.raises(Unexpected):
        edit(memory.coffer, made.id, text="Five.", expect=memory.head())
    assert memory.show(made.id).body == "Four."
    with pytest.raises(NoSuchRevision):
        edit(memory.coffer, made.id, text="Five.", expect="abcdef0")


def test_what_is_refused_changes_nothing(memory):
    made = memory.remember("One.")
    for text in ("", "x" * 9000, "token ghp_" + "Zz9" * 12):
        with pytest.raises(Rejected):
            edit(memory.coffer, made.id, text=text)
        with pytest.raises(Rejected):
            supersede(memory.coffer, made.id, text)
    with pytest.raises(NoSuchFact):
        edit(memory.coffer, "01ZZZZZZZZZZZZZZZZZZZZZZZZ", text="x")
    assert memory.head() == made.commit


def test_a_file_in_conflict_takes_only_a_whole_text(memory):
    memory.remember("seed")
    path = memory.file("knowledge/inbox/c.md")
    path.write_text("---\ntitle: C\n---\nA\n<<<<<<< HEAD\nB\n=======\nC\n>>>>>>> x\n")
    with pytest.raises(InConflict):
        edit(memory.coffer, "knowledge/inbox/c.md", title="D")
    edit(memory.coffer, "knowledge/inbox/c.md", text="A and B")
    assert memory.show("knowledge/inbox/c.md").body == "A and B"


def test_an_unreadable_head_or_a_repeated_key_is_never_rewritten(memory):
    memory.remember("seed")
    for name, text in (
        ("a", "---\ntitle: Rollout: blue (Phase: two)\n---\nx\n"),
        ("b", "---\ntitle: A\ntitle: B\n---\nx\n"),
    ):
        path = memory.file(f"knowledge/inbox/{name}.md")
        path.write_text(text)
        with pytest.raises(fact.HeadUnreadable):
            edit(memory.coffer, f"knowledge/inbox/{name}.md", title="C")
        assert path.read_text() == text


def test_the_file_in_an_editor(memory):
    made = memory.remember("One.")
    before = draft(memory.coffer, made.id)
    done = edit_file(memory.coffer, before, before.content.replace(b"One.", b"Two."))
    assert done.changed
    assert memory.show(made.id).body == "Two."
    with pytest.raises(Unexpected):
        edit_file(memory.coffer, before, b"Three.\n")
    again = draft(memory.coffer, made.id)
    assert not edit_file(memory.coffer, again, again.content).changed


def test_supersede(memory):
    old = memory.remember("The SSH port of the gate host is 22. Connect to SSH port 22.")
    new = supersede(memory.coffer, old.id, "Since June the gate host listens for SSH on 49222 only.")
    assert memory.texts("what is the SSH port of the gate host") == [
        "Since June the gate host listens for SSH on 49222 only."
    ]
    assert memory.show(new.id).metadata["supersedes"] == old.id
    archived = memory.show(old.id)
    assert (archived.lane, archived.metadata["superseded_by"]) == ("superseded", new.id)
    assert archived.body == "The SSH port of the gate host is 22. Connect to SSH port 22."
    assert not memory.file(old.path).exists()
    assert len(memory.log().entries) == 2
    with pytest.raises(AlreadySuperseded) as error:
        supersede(memory.coffer, old.id, "Again.")
    assert new.id in (error.value.hint or "")


def test_superseding_a_file_with_an_odd_head_keeps_its_bytes(memory):
    memory.remember("seed")
    text = "---\ntitle: Rollout: blue (Phase: two)\n---\nDrain blue first.\n"
    memory.file("knowledge/inbox/odd.md").write_text(text)
    supersede(memory.coffer, "knowledge/inbox/odd.md", "Drain green first.")
    (archived,) = memory.store.directory.glob("superseded/odd-*.md")
    assert archived.read_text() == text


def test_forget_and_restore(memory):
    made = memory.remember("The kettle is on the second shelf.")
    gone = forget(memory.coffer, [made.id])
    assert gone.facts[0].id == made.id
    assert memory.texts("kettle") == []
    back = restore(memory.coffer, made.id)
    assert (back.path, back.id) == (made.path, made.id)
    assert memory.texts("kettle") == ["The kettle is on the second shelf."]
    forget(memory.coffer, [made.path])
    assert restore(memory.coffer, made.path).commit == memory.head()
    forget(memory.coffer, [made.id])
    assert restore(memory.coffer, made.id[:10]).id == made.id


def test_forgetting_several_wants_to_be_confirmed(memory):
    made = [memory.remember(f"Fact {number}.").id for number in range(3)]
    with pytest.raises(NotConfirmed):
        forget(memory.coffer, made)
    forget(memory.coffer, [made[0], made[0]])
    done = forget(memory.coffer, made[1:], yes=True)
    assert (len(done.facts), memory.list().facts) == (2, ())
    undo(memory.coffer, done.operation)
    assert {item.id for item in memory.list().facts} == set(made[1:])
    other = memory.remember("Elsewhere.", scope="global")
    with pytest.raises(SeveralStores):
        forget(memory.coffer, [made[1], other.id], yes=True)


def test_forgetting_one_of_two_equal_texts_leaves_the_other(memory):
    first = memory.remember("The pump needs oil.")
    memory.file("knowledge/oil.md").write_text("The pump needs oil.\n")
    assert [hit.count for hit in memory.hits("pump oil")] == [2]
    forget(memory.coffer, [first.id])
    assert memory.texts("pump oil") == ["The pump needs oil."]


def test_forgetting_a_lane_file(memory):
    memory.remember("seed")
    memory.file("journal").mkdir()
    memory.file("journal/2026-06-09.md").write_text("## 10:00 Kestrel\n\nA kestrel was seen.\n")
    assert memory.texts("kestrel")
    forget(memory.coffer, ["journal/2026-06-09.md"])
    assert memory.texts("kestrel") == []
    restore(memory.coffer, "journal/2026-06-09.md")
    assert memory.texts("kestrel")


def test_forgetting_one_entry_of_a_journal(memory):
    memory.remember("seed")
    memory.file("journal").mkdir()
    day = memory.file("journal/2026-06-09.md")
    text = "# Day\n\n## 10:00 Kestrel\n\nA kestrel.\n\n## 11:30 Marmot\n\nA marmot.\n\n## 12:00 Newt\n\nA newt.\n"
    day.write_text(text)
    (marmot,) = memory.hits("marmot")
    done = forget(memory.coffer, [marmot.id])
    assert (done.facts[0].title, done.facts[0].path) == ("Marmot", "journal/2026-06-09.md")
    assert day.read_text() == text.replace("## 11:30 Marmot\n\nA marmot.\n\n", "")
    undo(memory.coffer)
    assert day.read_text() == text
    ids = [memory.hits(word)[0].id for word in ("kestrel", "marmot", "newt")]
    forget(memory.coffer, ids, yes=True)
    assert day.read_text() == "# Day\n\n"
    assert memory.texts("newt") == []


def test_restore_takes_back_the_last_change_or_any(memory):
    made = memory.remember("One.")
    second = edit(memory.coffer, made.id, text="Two.")
    edit(memory.coffer, made.id, text="Three.")
    assert memory.show(restore(memory.coffer, made.id).id).body == "Two."
    assert restore(memory.coffer, made.id, from_=made.commit).id == made.id
    assert memory.show(made.id).body == "One."
    restore(memory.coffer, made.id, from_=second.commit)
    assert memory.show(made.id).body == "Two."
    assert restore(memory.coffer, made.id, from_=second.commit).commit is None
    with pytest.raises(NoSuchRevision):
        restore(memory.coffer, made.id, from_="abcdef0")


def test_restore_after_an_edit_from_outside(memory):
    made = memory.remember("One.")
    memory.file(made.path).write_text("ruined")
    restore(memory.coffer, made.path)
    assert memory.show(made.id).body == "One."
    assert [entry.event for entry in memory.log().entries][:2] == ["memory_restored", "outside_edit"]


def test_a_fact_comes_back_beside_the_one_that_has_its_name_now(memory):
    first = memory.remember("The kettle is on the shelf.")
    forget(memory.coffer, [first.id])
    second = memory.remember("The kettle is on the shelf.")
    assert (second.path, second.id != first.id) == (first.path, True)
    back = restore(memory.coffer, first.id)
    assert back.path != second.path
    assert {item.id for item in memory.list().facts} == {first.id, second.id}


def test_nothing_to_restore(memory):
    made = memory.remember("One.")
    with pytest.raises(NothingBefore):
        restore(memory.coffer, made.id)
    with pytest.raises(NoSuchFact):
        restore(memory.coffer, "01ZZZZZZZZZZZZZZZZZZZZZZZZ")


def test_a_superseded_fact_comes_back_in_its_place(memory):
    old = memory.remember("Old.")
    supersede(memory.coffer, old.id, "New.")
    back = restore(memory.coffer, old.id)
    assert (back.path, memory.show(old.id).body) == (old.path, "Old.")
    assert "superseded_by" not in memory.show(old.id).metadata
    assert not list(memory.store.directory.glob("superseded/*.md"))


def test_move_and_its_undo(memory):
    made = memory.remember("Answer in short sentences.")
    content = memory.file(made.path).read_bytes()
    done = move(memory.coffer, made.id, "global")
    assert (done.source, done.scope) == (made.store, "global")
    shown = memory.show(made.id)
    assert (shown.scope, Path(shown.path).read_bytes()) == ("global", content)
    assert len(memory.list().facts) == 1
    undone = undo(memory.coffer)
    assert len(undone.stores) == 2
    assert memory.show(made.id).scope == "project"
    with pytest.raises(SameStore):
        move(memory.coffer, made.id, "project")


def test_a_move_that_died_half_way_is_completed_by_the_next(memory):
    made = memory.remember("Answer in short sentences.")
    move(memory.coffer, made.id, "global")
    memory.file(made.path).write_bytes(Path(memory.show(made.id).path).read_bytes())
    move(memory.coffer, made.path, "global", scope="project")
    assert [item.store for item in memory.list().facts] == ["global"]


def test_undo_is_one_operation_whole_and_can_be_undone(memory):
    memory.remember("seed")
    lines = [json.dumps({"text": f"Fact {number}."}) for number in range(50)]
    memory.import_lines(*lines)
    planned = undo(memory.coffer, dry_run=True)
    assert (planned.operation, len(planned.stores[0].reverted)) == (None, 50)
    undo(memory.coffer)
    assert len(memory.list().facts) == 1
    undo(memory.coffer)
    assert len(memory.list().facts) == 51
    assert memory.git("status", "--porcelain") == ""


def test_undo_by_commit_and_only_ones_own(memory):
    mine = memory.remember("Mine.")
    theirs = memory.remember("Theirs.", agent="codex")
    done = undo(memory.coffer)
    assert done.stores[0].subjects == ("remember: Mine",)
    undo(memory.coffer, theirs.commit[:10])
    assert memory.list().facts == ()
    undo(memory.coffer, mine.id)  # a fact's id names the operation that brought it: gone already, nothing changes
    with pytest.raises(NoSuchRevision):
        undo(memory.coffer, "abcdef0")


def test_nothing_to_undo(memory):
    memory.remember("Theirs.", agent="codex")
    with pytest.raises(NothingToUndo):
        undo(memory.coffer)
    with pytest.raises(NothingToUndo):
        undo(memory.coffer, scope="global")


def test_undo_keeps_what_was_edited_since_and_the_older_text(memory):
    made = memory.remember("One.")
    done = edit(memory.coffer, made.id, text="Two.")
    memory.file(made.path).write_bytes(memory.file(made.path).read_bytes().replace(b"Two.", b"Two and a half."))
    undone = undo(memory.coffer, done.commit)
    assert undone.stores[0].kept == (made.path,)
    bodies = {memory.show(item.id).body for item in memory.list().facts}
    assert bodies == {"Two and a half.", "One."}
    assert any(made.path in notice for notice in undone.notices)


def test_an_edit_from_outside_can_be_undone_by_its_commit(memory):
    made = memory.remember("One.")
    memory.file(made.path).write_text("ruined\n")
    memory.remember("Another.")
    commit = memory.git("rev-parse", "HEAD~1").strip()
    undo(memory.coffer, commit)
    assert memory.show(made.id).body == "One."


def test_a_stores_own_files_stay_when_its_first_fact_is_undone(memory):
    memory.remember("First.")
    undo(memory.coffer)
    assert memory.file("store.toml").exists()
    assert memory.git("status", "--porcelain") == ""
    assert memory.remember("Second.").commit
