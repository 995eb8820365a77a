"""import jsonl: many facts, one commit."""

from __future__ import annotations

import json

import pytest

from cofferctl.commands.import_jsonl import BadLine, NoSuchFile, import_jsonl
from cofferctl.scope import ScopeUnresolved


def line(**fields):
    return json.dumps(fields, ensure_ascii=False)


def test_every_object_becomes_a_fact_and_all_are_one_commit(memory):
    answer = memory.import_lines(
        line(text="The kiln is at 900 degrees", title="Kiln", created_at="2026-02-03T04:05:06+02:00", ref="t-1"),
        "",
        line(text="粘土在第二个架子上", description="where", actor="agent", session="s9"),
    )
    assert (answer.imported, answer.duplicates, answer.dry_run) == (2, 0, False)
    assert answer.commit == memory.head()
    assert memory.git("rev-list", "--count", "HEAD").strip() == "1"
    (hit,) = memory.hits("kiln")
    assert (hit.title, hit.ref, hit.time) == ("Kiln", "t-1", "2026-02-03T02:05:06+00:00")
    shown = memory.show(memory.hits("粘土")[0].id)
    assert (shown.description, shown.actor, shown.session, shown.ref) == ("where", "agent", "s9", None)
    (entry,) = memory.log().entries
    assert (entry.event, entry.id, entry.operation) == ("memory_imported", None, answer.operation)
    memory.sound()


def test_importing_again_changes_nothing(memory):
    lines = [line(text=f"fact {number}", ref=f"r{number}") for number in range(20)]
    memory.import_lines(*lines)
    head = memory.head()
    again = memory.import_lines(*lines)
    assert (again.imported, again.duplicates, again.commit, again.operation) == (0, 20, None, None)
    more = memory.import_lines(*lines, line(text="one more"))
    assert (more.imported, more.duplicates) == (1, 20)
    assert memory.git("rev-parse", "HEAD~1").strip() == head


def test_equal_texts_of_other_refs_are_other_facts(memory):
    answer = memory.import_lines(line(text="same", ref="a"), line(text="same", ref="b"), line(text="same", ref="a"))
    assert (answer.imported, answer.duplicates) == (2, 1)
    assert len(memory.list().facts) == 2


def test_what_was_remembered_is_known(memory):
    memory.remember("said before")
    assert memory.import_lines(line(text="said before")).duplicates == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "line"),
        ("[]", "line"),
        ('"text"', "line"),
        ("null", "line"),
        ("{}", "line"),
        ('{"text": 3}', "line"),
        ('{"text": null}', "line"),
        ('{"text": "x", "title": []}', "line"),
        ('{"text": "x", "title": true}', "line"),
        ('{"text": "x", "created_at": "soon"}', "line"),
        ('{"text": "x", "created_at": 12}', "line"),
        ('{"text": "x", "actor": "cat"}', "line"),
        ('{"text": ""}', "empty"),
        ('{"text": "a\\u0000b"}', "binary"),
        ('{"text": "' + "x" * 8_193 + '"}', "too_long"),
        ('{"text": "ghp_' + "a1B2" * 9 + '"}', "secret"),
        ('{"text": "x", "description": "' + "d" * 70_000 + '"}', "too_long"),
        ("[" * 5_000, "line"),
        (b"\xff\xfe{}", "line"),
        ('{"text": "x", "created_at": "0001-01-01T00:00:00+14:00"}', "line"),
    ],
)
def test_one_bad_line_refuses_the_file_and_is_named(memory, bad, reason):
    with pytest.raises(BadLine) as caught:
        memory.import_lines(line(text="good"), "", bad)
    assert caught.value.details == {"reason": reason, "line": 3}
    assert "line 3" in caught.value.message
    assert memory.list().facts == ()


def test_lone_surrogates_become_replacement_characters(memory):
    assert memory.import_lines('{"text": "a \\ud800 b"}').imported == 1
    assert memory.show(memory.list().facts[0].id).body == "a \ufffd b"


def test_a_file_that_is_none(memory, tmp_path):
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(NoSuchFile):
            import_jsonl(memory.coffer, path)


def test_an_empty_file_changes_nothing(memory):
    answer = memory.import_lines("")
    assert (answer.imported, answer.commit) == (0, None)


def test_a_byte_order_mark_and_crlf(memory):
    answer = memory.import_lines(b"\xef\xbb\xbf" + b'{"text": "one"}\r', b'{"text": "two"}\r')
    assert answer.imported == 2


def test_a_dry_run_counts_and_writes_nothing(memory, tmp_path):
    answer = memory.import_lines(line(text="one"), line(text="one"), dry_run=True)
    assert (answer.imported, answer.duplicates, answer.dry_run, answer.commit) == (1, 1, True, None)
    assert not (tmp_path / "coffer").exists()


def test_a_dry_run_finds_bad_lines(memory):
    with pytest.raises(BadLine):
        memory.import_lines("{", dry_run=True)


def test_secrets_on_request(memory):
    assert memory.import_lines(line(text="ghp_" + "a1B2" * 9), allow_secret=True).imported == 1


def test_no_project_no_import(memory, tmp_path):
    with pytest.raises(ScopeUnresolved):
        memory.at(tmp_path).import_lines(line(text="x"))
    assert memory.at(tmp_path).import_lines(line(text="x"), scope="global").store == "global"


def test_thousands_are_spread_over_directories(memory):
    answer = memory.import_lines(*(line(text=f"fact number {number}", title="t") for number in range(1_200)))
    assert answer.imported == 1_200
    inbox = memory.file("knowledge/inbox")
    assert (
        max(len(list(path.iterdir())) for path in (inbox, *filter(lambda path: path.is_dir(), inbox.iterdir())))
        <= 1_001
    )
    assert len(memory.list().facts) == 1_200
    memory.sound()


def test_progress_is_reported_to_the_end(memory):
    seen = []
    coffer = memory.coffer
    coffer.progress = lambda what, done, of: seen.append((what, done, of))
    path = memory.cwd.parent / "many.jsonl"
    path.write_text("".join(line(text=f"f {number}") + "\n" for number in range(450)))
    import_jsonl(coffer, path)
    assert seen[-1] == ("importing", 450, 450)
