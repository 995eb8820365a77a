"""review: what agents stored, looked at one by one."""

from __future__ import annotations

import pytest

from cofferctl import state
from cofferctl.commands.edit import edit
from cofferctl.commands.review import Walk, to_review
from cofferctl.dates import BadDate
from cofferctl.selecting import NoSuchFact

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def by_agent(memory, text, **options):
    return memory.remember(text, actor="agent", agent="otter", session="s1", **options)


def walk(memory):
    return Walk(memory.coffer, list(to_review(memory.coffer).facts))


def titles(memory, **options):
    return [card.title for card in to_review(memory.coffer, **options).facts]


def test_what_waits(memory):
    by_agent(memory.days_ago(40), "too old")
    by_agent(memory.days_ago(3), "older")
    by_agent(memory.days_ago(1), "newer", scope="global")
    memory.remember("by me")
    assert titles(memory) == ["newer", "older"]
    assert titles(memory, since="2d") == ["newer"]
    assert titles(memory, scope="project") == ["older"]
    card = to_review(memory.coffer).facts[1]
    assert (card.agent, card.session, card.branch, card.text, card.scope) == ("otter", "s1", "main", "older", "project")
    with pytest.raises(BadDate):
        to_review(memory.coffer, since="whenever")


def test_kept_until_edited(memory):
    made = by_agent(memory, "one")
    going = walk(memory)
    going.keep()
    assert going.card is None
    assert titles(memory) == []
    edit(memory.coffer, made.id, text="two")
    assert len(titles(memory)) == 1
    home = memory.coffer.config.home
    assert (home / "reviewed").stat().st_mode & 0o077 == 0
    assert list(state.reviewed(home)) == [made.id]


def test_every_answer(memory):
    for number in range(5):
        by_agent(memory.days_ago(number + 1), f"fact {number} of it")
    going = walk(memory)
    facts = list(going.cards)
    going.keep()
    going.edited(edit(memory.coffer, facts[1].id, text="fact one, better"))
    going.forget()
    going.move()
    going.next()
    assert going.card is None
    done = going.result()
    assert (done.kept, done.edited, done.forgotten, done.moved, done.skipped, done.left) == (1, 1, 1, 1, 1, 0)
    assert [card.id for card in to_review(memory.coffer).facts] == [facts[4].id]
    with pytest.raises(NoSuchFact):
        memory.show(facts[2].id)
    assert memory.show(facts[3].id).store == "global"
    assert memory.log(facts[2].id).entries[0].event == "memory_deleted"


def test_left_in_the_middle(memory):
    by_agent(memory, "one")
    by_agent(memory, "two")
    going = walk(memory)
    going.keep()
    assert going.result().left == 1
    assert len(titles(memory)) == 1


def test_an_edit_that_changed_nothing_asks_again(memory):
    made = by_agent(memory, "one")
    going = walk(memory)
    going.edited(edit(memory.coffer, made.id, text="one"))
    assert going.card is not None


def test_an_answer_that_fails_stays_there(memory):
    made = by_agent(memory, "one")
    going = walk(memory)
    memory.file(made.path).unlink()
    with pytest.raises(NoSuchFact):
        going.forget()
    assert going.card.id == made.id


def test_what_is_alike(memory):
    memory.remember("The gate host listens on port 2222")
    made = by_agent(memory, "The gate host listens on port 2022")
    (alike,) = walk(memory).similar()
    assert alike.id != made.id
    assert "2222" in alike.title


def test_secrets_are_masked(memory):
    by_agent(memory, f"the token {TOKEN}", allow_secret=True)
    assert TOKEN not in str(to_review(memory.coffer))


def test_the_list_of_what_was_kept_stays_small(memory, monkeypatch):
    monkeypatch.setattr(state, "_COMPACT_FROM", 4)
    made = by_agent(memory, "one")
    home = memory.coffer.config.home
    for number in range(20):
        state.mark_reviewed(home, made.id, f"{number:040x}")
    assert state.reviewed(home) == {made.id: f"{19:040x}"}
    assert (home / "reviewed").read_text().count("\n") <= 5
