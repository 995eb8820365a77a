"""export: facts as JSON Lines, lane files as they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli import cli, on_disk
from support.memory import snapshot
from support.program import run

from cofferctl.choices import BadChoice
from cofferctl.commands.export import OutputInUse, OutputMissing, export
from cofferctl.commands.import_jsonl import import_jsonl
from cofferctl.commands.import_markdown import import_markdown
from cofferctl.files import NotWritable

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_" + "a1B2" * 9
KEYS = {"id", "text", "title", "description", "created_at", "updated_at", "actor", "agent", "session", "ref"} | {
    *("scope", "store", "path", "lane", "metadata")
}


def lines(*, file: Path):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_every_fact_is_an_object(memory):
    made = memory.remember("The heron\nstands", title="Heron", actor="agent", agent="codex", session="s-1")
    memory.remember("Global crane", scope="global")
    answer = export(memory.coffer)
    assert (answer.exported, answer.masked, answer.output) == (2, 0, None)
    first, second = answer.facts
    assert set(first) == KEYS
    assert (first["id"], first["text"], first["title"]) == (made.id, "The heron\nstands", "Heron")
    assert (first["actor"], first["agent"], first["session"]) == ("agent", "codex", "s-1")
    assert (first["path"], first["lane"], first["scope"]) == (made.path, "inbox", "project")
    assert (second["scope"], second["store"]) == ("global", "global")
    assert export(memory.coffer, scope="global").exported == 1


def test_what_is_exported_can_be_imported_without_loss(memory, tmp_path):
    lines_in = [
        {"text": "A text\n\nwith *lines* 漢字 \u2028 \x1b[31m", "title": "T: odd # title", "description": ""},
        {"text": "Second", "ref": "t-1", "actor": "agent", "session": "s9", "created_at": "2024-05-06T07:08:09+02:00"},
        {"text": "  leading and trailing  ", "description": "d"},
        {"text": "---\nstatus: x\n---\nlooks like a head"},
    ]
    memory.import_lines(*(json.dumps(item) for item in lines_in))
    memory.put("knowledge/inbox/by-hand.md", "By hand\n\n\n")
    memory.put("knowledge/inbox/only-head.md", "---\ntitle: Only a head\ndescription: Said here\n---\n")
    memory.put("knowledge/topic.md", "---\ntitle: Topic\nactor: outside\n---\n# Topic\r\nline\r\n")
    out = tmp_path / "facts.jsonl"
    answer = export(memory.coffer, output=out)
    assert (answer.exported, answer.output, answer.facts) == (7, str(out), None)
    assert out.stat().st_mode & 0o077 == 0
    done = import_jsonl(memory.coffer, out, scope="global")
    assert done.imported == 7

    def told(**where):
        keys = ("text", "title", "description", "created_at", "ref", "session")
        return sorted(tuple(str(item[key]) for key in keys) for item in export(memory.coffer, **where).facts)

    def without_empty(rows):
        return [row[:2] + row[3:] for row in rows]

    assert without_empty(told(scope="global")) == without_empty(told(scope="project"))
    for item in export(memory.coffer, scope="project").facts:
        assert item["actor"] in ("user", "agent", None)
    bodies = {path.read_text().partition("\n---\n\n")[2] for path in memory.everywhere.directory.rglob("inbox/*.md")}
    assert "By hand\n\n\n" in bodies


def test_lanes(memory):
    memory.remember("In the inbox")
    memory.put("knowledge/topic.md", "A topic\n")
    memory.put("rules/r.md", "- a rule\n")
    memory.put("superseded/old.md", "old\n")
    assert {item["lane"] for item in export(memory.coffer).facts} == {"inbox", "topics"}
    assert {item["lane"] for item in export(memory.coffer, lane="rules").facts} == {"rules"}
    assert len(export(memory.coffer, lane="all").facts) == 4


def test_secrets_are_masked_unless_revealed(memory, tmp_path):
    memory.remember(f"The token is {TOKEN}", allow_secret=True)
    memory.remember("Harmless")
    answer = export(memory.coffer)
    assert answer.masked == 1
    assert "--reveal" in answer.notices[-1]
    assert TOKEN not in json.dumps(answer.facts)
    assert TOKEN in json.dumps(export(memory.coffer, reveal=True).facts)
    export(memory.coffer, format="markdown", output=tmp_path / "out", scope="project")
    export(memory.coffer, format="markdown", output=tmp_path / "bare", scope="project", reveal=True)
    assert TOKEN not in "".join(path.read_text() for path in (tmp_path / "out").rglob("*.md"))
    assert TOKEN in "".join(path.read_text() for path in (tmp_path / "bare").rglob("*.md"))


def test_markdown_copies_lane_files_byte_for_byte(memory, tmp_path):
    memory.remember("One")
    memory.put("knowledge/odd.md", b"\xef\xbb\xbf# BOM\r\ncaf\xe9\r\n")
    memory.put("rules/r.md", "- a rule\n")
    memory.put("journal/2026-06-09.md", "## 10:00 x\n")
    memory.put("knowledge/inbox/big.md", "x" * 1_000_001)
    memory.put("knowledge/INDEX.md", "derived\n")
    out = tmp_path / "out"
    answer = export(memory.coffer, format="markdown", output=out, scope="project")
    expected = on_disk(memory.store.directory)
    del expected["knowledge/inbox/big.md"]
    assert on_disk(out) == expected
    assert answer.exported == 4
    assert any("big.md was left out (over 1 MB)" in notice for notice in answer.notices)
    assert not (out / "knowledge/INDEX.md").exists()


def test_markdown_of_both_scopes_stands_side_by_side(memory, tmp_path):
    memory.remember("One")
    memory.remember("Two", scope="global")
    export(memory.coffer, format="markdown", output=tmp_path / "out")
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.md")) == [
        "global/knowledge/inbox/two.md",
        "project/knowledge/inbox/one.md",
    ]
    assert import_markdown(memory.coffer, tmp_path / "out/project", scope="global").imported == 1


def test_places_that_cannot_be_written_to(memory, tmp_path):
    memory.remember("One")
    with pytest.raises(OutputMissing):
        export(memory.coffer, format="markdown")
    (tmp_path / "used").mkdir()
    (tmp_path / "used/file").write_text("mine")
    with pytest.raises(OutputInUse):
        export(memory.coffer, format="markdown", output=tmp_path / "used")
    with pytest.raises(OutputInUse):
        export(memory.coffer, output=tmp_path / "used/file")
    assert (tmp_path / "used/file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert export(memory.coffer, format="markdown", output=tmp_path / "empty").exported == 1
    with pytest.raises(NotWritable):
        export(memory.coffer, output=tmp_path / "nowhere/file")


def test_choices_that_are_none(memory):
    for options in ({"format": "bundle"}, {"lane": "cellar"}):
        with pytest.raises(BadChoice):
            export(memory.coffer, **options)


def test_nothing_is_changed_and_nothing_is_made(memory, tmp_path):
    assert export(memory.coffer).facts == ()
    assert not (tmp_path / "coffer").exists()
    memory.remember("One")
    memory.put("knowledge/mine.md", "mine\n")
    memory.status()
    before, head = snapshot(memory.store.directory / "knowledge"), memory.head()
    export(memory.coffer)
    assert (snapshot(memory.store.directory / "knowledge"), memory.head()) == (before, head)


def test_another_projects_facts_are_not_given_out(memory, tmp_path):
    memory.remember("Ours")
    assert export(memory.at(tmp_path).coffer).facts == ()


def test_by_the_command_line(memory):
    memory.remember("Heron 漢字 \x9b")
    memory.remember("Second")
    done = run("export", cwd=memory.cwd)
    assert done.code == 0
    assert [json.loads(line)["text"] for line in done.out.splitlines()] == ["Heron 漢字 \x9b", "Second"]
    narrow = run("export", cwd=memory.cwd, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="cp1252")
    assert next(json.loads(line)["text"] for line in narrow.out.splitlines()) == "Heron 漢字 \x9b"
    document = json.loads(run("export", "--json", cwd=memory.cwd).out)
    assert [item["title"] for item in document["facts"]][1] == "Second"


def test_usage_by_the_command_line(memory, monkeypatch):
    monkeypatch.chdir(memory.cwd)
    memory.remember("One")
    assert cli("export", "--format", "bundle").code == 2
    assert cli("export", "--format", "markdown").code == 2
    answer = cli("export", "--output", "facts.jsonl")
    assert (answer.code, answer.data["exported"]) == (0, 1)
    assert lines(file=memory.cwd / "facts.jsonl")[0]["text"] == "One"
    assert cli("export", "--output", "facts.jsonl").code == 2
