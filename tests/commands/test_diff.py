"""diff: what differs between two moments, or was edited and not committed."""

from __future__ import annotations

import pytest

from cofferctl.commands.diff import TooManyPlaces, diff
from cofferctl.commands.move import move
from cofferctl.commands.supersede import supersede
from cofferctl.history.log import NoSuchRevision
from cofferctl.selecting import NoSuchFact

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def files(memory, *places, **where):
    return {file.path: file for file in diff(memory.coffer, places, **where).files}


def test_what_the_next_write_will_commit(memory):
    made = memory.remember("The gate is shut")
    gone = memory.remember("The well is dry")
    assert files(memory) == {}
    memory.put("knowledge/by-hand.md", "By hand\n")
    memory.file(made.path).write_text(memory.file(made.path).read_text() + "and locked\n")
    memory.file(gone.path).unlink()
    (memory.store.directory / "notes.txt").write_text("none of ours")
    found = files(memory)
    assert {path: file.status for path, file in found.items()} == {
        "knowledge/by-hand.md": "added",
        made.path: "changed",
        gone.path: "deleted",
    }
    assert (found[made.path].id, found[gone.path].id) == (made.id, gone.id)
    assert "+and locked\n" in found[made.path].diff
    head = memory.head()
    memory.remember("next")
    assert memory.git("diff", "--name-only", head, "HEAD~1").split() == sorted(found)
    assert files(memory) == {}


def test_it_reads_like_git(memory):
    made = memory.remember("one\ntwo\nthree")
    before = memory.head()
    memory.file(made.path).write_text(memory.file(made.path).read_text().replace("two\n", "zwei\n") + "no newline")
    ours = files(memory)[made.path].diff
    theirs = memory.git("diff", "--abbrev=10", "HEAD", "--", made.path)
    bare = [line for line in theirs.splitlines() if not line.startswith("@@")]
    assert [line for line in ours.splitlines() if not line.startswith("@@")] == bare
    memory.file(made.path).unlink()
    memory.put("knowledge/new.md", "new\n")
    assert "deleted file mode 100644" in files(memory)[made.path].diff
    assert "new file mode 100644" in files(memory)["knowledge/new.md"].diff
    assert diff(memory.coffer).from_ == before


def test_one_moment_two_moments_and_dates(memory):
    first = memory.days_ago(9).remember("one")
    second = memory.days_ago(5).remember("two")
    memory.days_ago(1).remember("three")
    memory.put("knowledge/by-hand.md", "By hand\n")
    assert len(files(memory, first.commit[:9])) == 3
    assert len(files(memory, "HEAD~1")) == 2
    assert len(files(memory, "HEAD~2", "HEAD~1")) == 1
    assert len(files(memory, "6d")) == 3
    assert list(files(memory, "6d", "3d")) == [second.path]
    assert files(memory, "3d", "6d")[second.path].status == "deleted"
    answer = diff(memory.coffer, ("6d", "3d"))
    assert (answer.from_, answer.to) == (first.commit, second.commit)
    assert diff(memory.coffer, ("20d",)).from_ is None
    assert len(files(memory, "20d")) >= 4
    assert diff(memory.coffer, ("HEAD~1",)).to is None


def test_an_edit_taken_back_by_hand_is_no_difference(memory):
    made = memory.remember("one")
    old = memory.file(made.path).read_text()
    memory.file(made.path).write_text(old.replace("one\n", "zwei\n"))
    memory.remember("two")
    memory.file(made.path).write_text(old)
    assert made.path in files(memory)
    assert made.path not in files(memory, "HEAD~2")


def test_one_fact_wherever_it_was(memory):
    old = memory.remember("The port is 2222")
    memory.remember("other")
    new = supersede(memory.coffer, old.id, "The port is 2022")
    (file,) = files(memory, old.commit, new.id).values()
    assert (file.path, file.status) == (new.path, "changed")
    assert f"rename from {old.path}" in file.diff
    assert "-The port is 2222\n+The port is 2022\n" in file.diff
    memory.put("knowledge/by-hand.md", "By hand\n")
    assert files(memory, new.id) == {}
    assert list(files(memory, "knowledge/by-hand.md")) == ["knowledge/by-hand.md"]
    assert list(files(memory, "HEAD~1", "HEAD", new.path)) == [new.path]


def test_a_fact_of_the_other_store(memory):
    made = memory.remember("one")
    moved = move(memory.coffer, made.id, "global")
    path = memory.everywhere.directory / moved.path
    path.write_text(path.read_text() + "more\n")
    assert diff(memory.coffer, (made.id,)).store == "global"
    answer = diff(memory.coffer)
    assert answer.files == ()
    assert "--scope global" in answer.notices[0]
    assert list(files(memory, scope="global")) == [moved.path]


def test_a_deleted_file_can_be_named(memory):
    made = memory.remember("one")
    memory.file(made.path).unlink()
    for name in (made.id, made.path):
        assert files(memory, name)[made.path].status == "deleted"


def test_store_settings_are_shown_and_nothing_else(memory):
    memory.remember("one")
    settings = memory.store.directory / "store.toml"
    settings.write_text(settings.read_text() + 'label = "x"\n')
    (memory.store.directory / ".gitignore").write_text("*.bak\n")
    (file,) = files(memory).values()
    assert (file.path, file.id, file.status) == ("store.toml", None, "changed")


def test_secrets_are_masked_line_by_line(memory):
    made = memory.remember("first\nlast")
    path = memory.file(made.path)
    path.write_text(path.read_text().replace("last", f"token {TOKEN}\nlast"))
    text = files(memory)[made.path].diff
    assert TOKEN not in text
    assert "+token [masked: " in text
    memory.remember("two")
    path.write_text(path.read_text().replace(TOKEN, TOKEN[:-4] + "abcd"))
    assert "masked text" in files(memory)[made.path].diff


def test_what_names_nothing(memory):
    memory.remember("one")
    with pytest.raises(NoSuchRevision):
        diff(memory.coffer, ("nonsense",))
    with pytest.raises(NoSuchRevision):
        diff(memory.coffer, ("HEAD~7",))
    with pytest.raises(NoSuchFact):
        diff(memory.coffer, ("HEAD", "knowledge/none.md"))
    with pytest.raises(NoSuchFact):
        diff(memory.coffer, ("HEAD", "HEAD", "01JZZZZZZZZ"))
    with pytest.raises(TooManyPlaces):
        diff(memory.coffer, ("HEAD",) * 4)


def test_a_memory_that_is_not_there_yet(memory):
    assert diff(memory.coffer).files == ()
