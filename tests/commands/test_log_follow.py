"""log of one fact, wherever it was; patches; and that every way through a history finds the same commits."""

from __future__ import annotations

import itertools
import random

import pytest

from cofferctl.commands.edit import edit
from cofferctl.commands.forget import forget
from cofferctl.commands.move import move
from cofferctl.commands.restore import NothingBefore, restore
from cofferctl.commands.supersede import supersede
from cofferctl.history import programs, walking
from cofferctl.history.log import History
from cofferctl.selecting import NoSuchFact

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def events(memory, selector, **options):
    return [entry.event.removeprefix("memory_") for entry in memory.log(selector, **options).entries]


def test_through_supersede_both_ways(memory):
    old = memory.remember("The port is 2222")
    memory.remember("other")
    new = supersede(memory.coffer, old.id, "The port is 2022")
    assert events(memory, new.id) == ["superseded", "added"]
    assert events(memory, old.id) == ["superseded", "added"]
    assert events(memory, old.path) == ["superseded", "added"]


def test_through_forget_and_restore_and_while_forgotten(memory):
    made = memory.remember("one")
    edit(memory.coffer, made.id, text="two")
    forget(memory.coffer, [made.id])
    for name in (made.id, made.path):
        assert events(memory, name) == ["deleted", "updated", "added"]
    restore(memory.coffer, made.id)
    assert events(memory, made.id) == ["restored", "deleted", "updated", "added"]
    with pytest.raises(NoSuchFact):
        memory.log("01JZZZZZZZZZZZ")


def test_through_a_move_and_back(memory):
    made = memory.days_ago(5).remember("one")
    move(memory.days_ago(4).coffer, made.id, "global")
    answer = memory.log(made.id)
    assert [entry.event for entry in answer.entries] == ["memory_moved", "memory_moved", "memory_added"]
    assert {entry.store for entry in answer.entries[:2]} == {"global", memory.store.name}
    edit(memory.days_ago(3).coffer, made.id, text="two")
    move(memory.days_ago(2).coffer, made.id, "project")
    assert events(memory, made.id) == ["moved", "moved", "updated", "moved", "moved", "added"]
    forget(memory.days_ago(1).coffer, [made.id])
    assert events(memory, made.id)[:2] == ["deleted", "moved"]


def test_a_move_within_one_second(memory):
    made = memory.remember("one")
    move(memory.coffer, made.id, "global")
    forget(memory.coffer, [made.id])
    assert events(memory, made.id) == ["deleted", "moved", "moved", "added"]
    assert restore(memory.coffer, made.id).store == "global"


def test_a_file_renamed_by_hand(memory):
    made = memory.remember("one")
    memory.file(made.path).rename(memory.file("knowledge/renamed.md"))
    assert events(memory, made.id) == ["added"]
    memory.remember("next")
    assert events(memory, made.id) == ["outside_edit", "added"]


def test_another_fact_that_had_the_same_name_is_not_followed(memory):
    old = memory.remember("The gate is shut")
    forget(memory.coffer, [old.id])
    new = memory.remember("The gate is shut")
    assert (new.path, new.id != old.id) == (old.path, True)
    assert events(memory, new.id) == ["added"]
    assert events(memory, old.id) == ["deleted", "added"]
    with pytest.raises(NothingBefore):
        restore(memory.coffer, new.id)


def test_filters_and_a_limit_hold_for_one_fact(memory):
    made = memory.days_ago(9).remember("one", actor="agent", agent="otter")
    edit(memory.coffer, made.id, text="two")
    assert events(memory, made.id, actor="agent") == ["added"]
    assert events(memory, made.id, since="2d") == ["updated"]
    assert events(memory, made.id, limit=1) == ["updated"]


def test_patches_only_when_asked(memory):
    made = memory.remember("one")
    memory.remember("other")
    edit(memory.coffer, made.id, text="two")
    assert {entry.diff for entry in memory.log().entries} == {None}
    first, last = memory.log(made.id, patch=True).entries
    assert "-one\n+two\n" in first.diff
    assert last.diff.startswith(f"diff --git a/{made.path} b/{made.path}\nnew file mode 100644\n")
    assert "store.toml" not in last.diff
    assert "store.toml" in memory.log(patch=True).entries[-1].diff


def test_secrets_in_patches_are_masked(memory):
    made = memory.remember("one")
    memory.file(made.path).write_text(memory.file(made.path).read_text() + TOKEN + "\n")
    memory.remember("two")
    assert TOKEN not in str(memory.log(patch=True))


def tangled(memory, seed):
    """A history with merges, unrelated roots, equal times and clocks that run backwards."""
    chance = random.Random(seed)
    memory.remember("first")
    store, names = memory.store.directory, [f"knowledge/t{number}.md" for number in range(4)]
    for number in range(26):
        step = chance.random()
        when = f"{1_750_000_000 + chance.choice((0, number * 60, number * 60, -5_000, 9_000))} +0000"
        env = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
        branches = memory.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        if step < 0.25:
            memory.git("checkout", "-q", chance.choice(branches))
        elif step < 0.4 and len(branches) < 5:
            orphan = ["--orphan"] if chance.random() < 0.3 else ["-b"]
            memory.git("checkout", "-q", *orphan, f"b{number}")
        elif step < 0.6:
            other = chance.choice(branches)
            call(memory, env, "merge", "-q", "-X", "ours", "--allow-unrelated-histories", "--no-edit", other)
        name = chance.choice(names)
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_text(f"{chance.choice('abc')}\n")
        memory.git("add", "-A")
        call(memory, env, "commit", "-q", "--allow-empty", "-m", f"n{number}")
    for other in memory.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split():
        call(memory, {}, "merge", "-q", "-X", "ours", "--allow-unrelated-histories", "--no-edit", other)
    return [*names, "knowledge/none.md"]


def call(memory, env, *args):
    import os
    import subprocess

    subprocess.run(
        ["git", *args], cwd=memory.store.directory, env={**os.environ, **env}, capture_output=True, check=True
    )


@pytest.mark.parametrize("seed", range(4))
def test_git_and_we_find_the_same_commits_in_the_same_order(memory, monkeypatch, seed):
    names = tangled(memory, seed)
    answers = []
    for after, program in ((10**9, True), (1, True), (5, True), (1, False)):
        monkeypatch.setattr(walking, "SWITCH_AFTER", after)
        if not program:
            monkeypatch.setattr(programs, "git", lambda: None)
        history = History(memory.store.directory)
        everything = [(e.commit, e.parents, e.time, e.author, e.record, e.deltas) for e in history.entries()]
        touching = {
            paths: [entry.commit for entry in history.touching_any(set(paths))]
            for paths in (*((name,) for name in names), tuple(names[:2]))
        }
        history.close()
        answers.append((everything, touching))
    assert answers[1:] == answers[:1] * 3
    commits = [found[0] for found in answers[0][0]]
    assert commits == memory.git("rev-list", "--date-order", "HEAD").split()
    for paths, found in answers[0][1].items():
        single = {commit for commit, parents, *_ in answers[0][0] if len(parents) < 2}
        theirs = memory.git("rev-list", "--date-order", "--full-history", "--no-merges", "HEAD", "--", *paths).split()
        assert [commit for commit in found if commit in single] == theirs


def test_paths_that_are_added_on_the_way(memory, monkeypatch):
    facts = [memory.remember("fact 0 has words")]
    for number in range(1, 5):
        memory.remember(f"other {number}")
        facts.append(supersede(memory.coffer, facts[-1].id, f"fact {number} has words"))
    found = []
    for after in (10**9, 1, 3):
        monkeypatch.setattr(walking, "SWITCH_AFTER", after)
        found.append([entry.commit for entry in memory.log(facts[-1].id).entries])
    assert found[0] == [fact.commit for fact in reversed(facts)]
    assert found[1:] == found[:1] * 2


def test_git_that_fails_half_way_is_replaced(memory, monkeypatch):
    for number in range(8):
        memory.remember(f"fact {number}")
    history = History(memory.store.directory)
    wanted = [entry.commit for entry in history.entries()]
    history.close()
    real = programs.stream

    def broken(*given):
        yield from itertools.islice(real(*given), 0)
        raise programs.Failed

    monkeypatch.setattr(walking, "SWITCH_AFTER", 2)
    monkeypatch.setattr(programs, "stream", broken)
    history = History(memory.store.directory)
    assert [entry.commit for entry in history.entries()] == wanted
    assert len(list(history.touching("store.toml"))) == 1
    history.close()


def test_a_shallow_clone(memory, tmp_path):
    made = memory.remember("one")
    edit(memory.coffer, made.id, text="two")
    edit(memory.coffer, made.id, text="three")
    memory.git("clone", "-q", "--depth", "2", f"file://{memory.store.directory}", str(tmp_path / "shallow"))
    history = History(tmp_path / "shallow")
    assert [len(entry.deltas) for entry in history.entries()] == [1, 4]
    assert len(list(history.touching(made.path))) == 2
    history.close()
