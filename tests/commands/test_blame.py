"""blame: who taught each line."""

from __future__ import annotations

import pytest

from cofferctl.commands.blame import blame
from cofferctl.commands.edit import edit
from cofferctl.commands.forget import forget
from cofferctl.commands.move import move
from cofferctl.commands.restore import restore
from cofferctl.commands.supersede import supersede
from cofferctl.selecting import NoSuchFact

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def owners(memory, selector):
    """Text of each body line -> its commit."""
    lines = blame(memory.coffer, selector).lines
    body = [line.text for line in lines].index("", 1)
    return {line.text: line.commit for line in lines[body + 1 :]}


def test_every_line_and_who(memory):
    made = memory.remember("one\ntwo", actor="agent", agent="otter", session="s1")
    answer = blame(memory.coffer, made.id)
    assert [line.text for line in answer.lines] == memory.file(made.path).read_text().splitlines()
    assert {(line.commit, line.actor, line.agent, line.session) for line in answer.lines} == {
        (made.commit, "agent", "otter", "s1")
    }
    assert answer.lines[0].time.endswith("+00:00")
    assert (answer.id, answer.path) == (made.id, made.path)
    assert blame(memory.coffer, made.path) == answer


def test_edits_own_their_lines_and_what_no_commit_has_is_from_outside(memory):
    made = memory.remember("one\ntwo\nthree")
    changed = edit(memory.coffer, made.id, text="one\nzwei\nthree")
    assert owners(memory, made.id) == {"one": made.commit, "zwei": changed.commit, "three": made.commit}
    path = memory.file(made.path)
    path.write_text(path.read_text() + "four\n")
    assert owners(memory, made.id)["four"] is None
    line = blame(memory.coffer, made.id).lines[-1]
    assert (line.time, line.actor, line.agent) == (None, "outside", None)
    memory.remember("next")
    assert owners(memory, made.id)["four"] == memory.git("rev-parse", "HEAD~1").strip()


def test_it_agrees_with_git(memory):
    made = memory.remember("a\nb\nc\nd")
    for text in ("a\nb\nx\nc\nd", "b\nx\nc\nd\ne", "b\nx\ny\nd\ne\nf"):
        edit(memory.coffer, made.id, text=text)
    theirs = [line.split()[0] for line in memory.git("blame", "-s", "-l", "--root", made.path).splitlines()]
    assert [line.commit for line in blame(memory.coffer, made.id).lines] == theirs


def test_through_supersede_move_forget_and_restore(memory):
    old = memory.remember("kept\nport 2222")
    new = supersede(memory.coffer, old.id, "kept\nport 2022")
    wanted = {"kept": old.commit, "port 2022": new.commit}
    assert owners(memory, new.id) == wanted
    assert owners(memory, old.id)["port 2222"] == old.commit
    forget(memory.coffer, [new.id])
    restore(memory.coffer, new.id)
    assert owners(memory, new.id) == wanted
    move(memory.coffer, new.id, "global")
    assert owners(memory, new.id) == wanted


def test_what_restore_takes_back_keeps_its_commit(memory):
    made = memory.remember("one\ntwo")
    edit(memory.coffer, made.id, text="one\nzwei")
    restore(memory.coffer, made.id)
    assert owners(memory, made.id) == {"one": made.commit, "two": made.commit}


def test_a_file_renamed_by_hand(memory):
    made = memory.remember("one\ntwo")
    memory.file(made.path).rename(memory.file("knowledge/renamed.md"))
    assert owners(memory, made.id) == {"one": made.commit, "two": made.commit}
    memory.remember("next")
    assert owners(memory, made.id) == {"one": made.commit, "two": made.commit}


def test_merged_branches(memory):
    made = memory.remember("one\ntwo\nthree\nfour\nfive")
    path = memory.file(made.path)
    memory.git("checkout", "-qb", "side")
    path.write_text(path.read_text().replace("\none\n", "\neins\n"))
    memory.git("commit", "-qam", "side")
    side = memory.head()
    memory.git("checkout", "-q", "main")
    path.write_text(path.read_text().replace("\nfive\n", "\ncinq\n"))
    memory.git("commit", "-qam", "main")
    main = memory.head()
    memory.git("merge", "-q", "side")
    found = owners(memory, made.id)
    assert (found["eins"], found["cinq"], found["three"]) == (side, main, made.commit)


def test_secrets_are_masked_and_lines_stay_lines(memory):
    made = memory.remember("first\nlast")
    path = memory.file(made.path)
    path.write_text(path.read_text().replace("\nlast", f"\ntoken {TOKEN}\nlast"))
    answer = blame(memory.coffer, made.id)
    assert TOKEN not in str(answer)
    assert [line.text for line in answer.lines][-1] == "last"
    assert len(answer.lines) == len(path.read_text().splitlines())


def test_no_such_fact(memory):
    memory.remember("x")
    with pytest.raises(NoSuchFact):
        blame(memory.coffer, "knowledge/none.md")
