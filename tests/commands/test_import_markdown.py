"""import markdown: files of other tools and of people become facts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.cli import cli

from cofferctl.commands.import_markdown import BadFile, import_markdown
from cofferctl.importing import NoSuchFile
from cofferctl.scope import ScopeUnresolved

TOKEN = "ghp_" + "a1B2" * 9
CLAUDE = """---
name: prefers-small-commits
description: Keep commits small; one idea in each
metadata:
  type: feedback
---
Split a change when its message needs the word "and".
"""


@pytest.fixture
def notes(tmp_path):
    root = tmp_path / "notes"
    root.mkdir()
    return root


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, data in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())


def bring(memory, path, **options):
    return import_markdown(memory.coffer, Path(path), **options)


def test_every_file_of_a_directory_becomes_a_fact_and_all_are_one_commit(memory, notes):
    write(
        notes, {"b.md": "# Kiln\n\nThe kiln is at 900 degrees.\n", "a/deep.md": "粘土在第二个架子上\n", "x.txt": "no"}
    )
    answer = bring(memory, notes)
    assert (answer.imported, answer.duplicates, answer.commit) == (2, 0, memory.head())
    assert memory.git("rev-list", "--count", "HEAD").strip() == "1"
    (entry,) = memory.log().entries
    assert (entry.event, entry.operation) == ("memory_imported", answer.operation)
    (hit,) = memory.hits("kiln")
    assert (hit.title, hit.ref) == ("Kiln", "b.md")
    assert memory.hits("粘土")[0].ref == "a/deep.md"
    memory.sound()


def test_a_memory_file_of_claude_code(memory, notes):
    write(notes, {"prefers-small-commits.md": CLAUDE})
    bring(memory, notes / "prefers-small-commits.md")
    (listed,) = memory.list().facts
    shown = memory.show(listed.id)
    assert (shown.title, shown.description) == ("prefers-small-commits", "Keep commits small; one idea in each")
    assert shown.body == 'Split a change when its message needs the word "and".'
    assert (shown.metadata["type"], shown.ref) == ("feedback", "prefers-small-commits.md")


@pytest.mark.parametrize(
    ("data", "title"),
    [
        ("---\ndescription: Only described\n---\nBody here\n", "Only described"),
        ("---\n---\nJust a body\n", "Just a body"),
        ("---\nNo closing fence\n", "No closing fence"),
        ("---\n- a: [broken\n---\nThe body\n", "a: [broken"),
        ("\ufeff---\r\ntitle: With a mark\r\n---\r\nBody\r\n", "With a mark"),
        ("## A heading ##\ntext\n", "A heading"),
    ],
)
def test_a_title_is_never_a_fence(memory, notes, data, title):
    write(notes, {"f.md": data})
    bring(memory, notes)
    (listed,) = memory.list().facts
    assert listed.title == title
    assert "---" not in listed.title


def test_what_a_head_says_is_kept(memory, notes):
    write(
        notes,
        {
            "f.md": "---\nid: abc\ntitle: T\nactor: agent\nagent: codex\norigin_session_id: s-1\ntags: [a, b]\n"
            "nested:\n  x: 1\npriority: high\ndate: 2024-01-02\nupdated: 2025-03-04T05:06:07+02:00\n"
            "metadata:\n  ref: t-9\n"
            "  deep:\n    er: yes\n---\nBody\n"
        },
    )
    bring(memory, notes)
    shown = memory.show(memory.list().facts[0].id)
    assert (shown.actor, shown.agent, shown.session) == ("agent", "codex", "s-1")
    assert (shown.created_at[:10], shown.updated_at) == ("2024-01-02", "2025-03-04T03:06:07+00:00")
    kept = dict(shown.metadata)
    assert (kept["tags"], kept["priority"], kept["original_id"], kept["original_ref"]) == ("a, b", "high", "abc", "t-9")
    assert (kept["deep.er"], kept["ref"]) == ("yes", "f.md")
    assert "nested" not in kept


def test_a_file_without_times_has_those_of_the_disk(memory, notes):
    write(notes, {"f.md": "Body\n"})
    os.utime(notes / "f.md", (1_600_000_000, 1_600_000_000))
    bring(memory, notes)
    assert memory.list().facts[0].created_at.startswith("2020-09-13")


def test_importing_again_changes_nothing(memory, notes):
    write(notes, {f"{number}.md": f"Fact {number}\n" for number in range(20)})
    bring(memory, notes)
    head = memory.head()
    again = bring(memory, notes)
    assert (again.imported, again.duplicates, again.commit) == (0, 20, None)
    write(notes, {"new.md": "More\n", "3.md": "Fact 3, changed\n"})
    more = bring(memory, notes)
    assert (more.imported, more.duplicates) == (2, 19)
    assert memory.git("rev-parse", "HEAD~1").strip() == head


def test_equal_texts_of_two_files_are_two_facts(memory, notes):
    write(notes, {"a.md": "same\n", "b.md": "same\n"})
    assert bring(memory, notes).imported == 2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("x" * 9_000, "too_long"),
        ("x" * 1_000_001, "too_long"),
        (b"caf\xe9 here\n", "file"),
        (b"a\0b\n", "binary"),
        (f"The token is {TOKEN}\n", "secret"),
        (f"---\nkey: {TOKEN}\n---\nbody\n", "secret"),
        ("---\ndescription: " + "d" * 60_000 + "\nmore: " + "e" * 5_450 + "\n---\nbody\n", "too_long"),
    ],
)
def test_one_bad_file_refuses_all_and_is_named(memory, notes, data, reason):
    write(notes, {"good.md": "Good\n", "sub/bad.md": data})
    with pytest.raises(BadFile) as caught:
        bring(memory, notes)
    assert caught.value.details == {"reason": reason, "path": "sub/bad.md"}
    assert "sub/bad.md" in caught.value.message
    assert TOKEN not in caught.value.message
    assert memory.list().facts == ()
    with pytest.raises(BadFile):
        bring(memory, notes, dry_run=True)


def test_secrets_on_request(memory, notes):
    write(notes, {"f.md": TOKEN})
    assert bring(memory, notes, allow_secret=True).imported == 1


def test_what_says_nothing_is_left_out_and_named(memory, notes):
    write(
        notes,
        {"empty.md": "", "blank.md": "---\ntitle: x\n---\n \n", "head.md": "---\ndescription: Said in the head\n---\n"},
    )
    write(notes, {"old.md": "---\nmetadata:\n  superseded_by: 01J\n---\nOld\n"})
    answer = bring(memory, notes)
    assert answer.imported == 1
    assert memory.list().facts[0].title == "Said in the head"
    assert {notice.partition(" ")[0] for notice in answer.notices} == {"empty.md", "blank.md", "old.md"}


def test_links_hidden_names_and_pipes_are_left_out(memory, notes, tmp_path):
    write(tmp_path, {"outside/secret.md": "from outside\n"})
    write(notes, {"f.md": "Fine\n", ".hidden.md": "no\n", ".git/x.md": "no\n", "#lock.md": "no\n"})
    (notes / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (notes / "linked").symlink_to(tmp_path / "outside")
    os.mkfifo(notes / "pipe.md")
    answer = bring(memory, notes)
    assert answer.imported == 1
    assert {notice.partition(" ")[0] for notice in answer.notices} == {"link.md", "pipe.md"}


def test_what_is_not_there(memory, notes):
    with pytest.raises(NoSuchFile):
        bring(memory, notes / "none.md")
    os.mkfifo(notes / "pipe.md")
    with pytest.raises(NoSuchFile):
        bring(memory, notes / "pipe.md")


def test_an_empty_directory_and_a_dry_run(memory, notes, tmp_path):
    assert bring(memory, notes, dry_run=True).imported == 0
    write(notes, {"f.md": "Fine\n", "g.md": "Fine too\n"})
    answer = bring(memory, notes, dry_run=True)
    assert (answer.imported, answer.dry_run, answer.commit) == (2, True, None)
    assert not (tmp_path / "coffer").exists()


def test_no_project_no_import(memory, notes, tmp_path):
    write(notes, {"f.md": "Fine\n"})
    with pytest.raises(ScopeUnresolved):
        bring(memory.at(tmp_path), notes)
    assert bring(memory.at(tmp_path), notes, scope="global").store == "global"


def test_the_other_lenient_heads(memory, notes):
    for file in Path("/work/shared/cases").glob("fm_*.md"):
        shutil.copy(file, notes)
    if not any(notes.iterdir()):
        pytest.skip("the case files are not on this machine")
    answer = bring(memory, notes)
    assert answer.imported + len(answer.notices) == len(list(notes.iterdir()))
    memory.sound()


def test_by_the_command_line(memory, notes, monkeypatch):
    monkeypatch.chdir(memory.cwd)
    write(notes, {"f.md": "Fine\n"})
    assert cli("import", "markdown", str(notes)).data["imported"] == 1
    assert cli("import", "markdown", str(notes / "none")).code == 3
    write(notes, {"g.md": b"\xff"})
    assert cli("import", "markdown", str(notes)).code == 4
