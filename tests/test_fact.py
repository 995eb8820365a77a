"""Fact files as people, editors and other tools leave them: read leniently, edited by the line."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from cofferctl import fact, ulid
from cofferctl.errors import ExitCode

WHEN = datetime(2026, 6, 9, 10, 11, 12, tzinfo=UTC)


def read(text: str | bytes) -> fact.Fact:
    return fact.parse("knowledge/inbox/some-note.md", text.encode() if isinstance(text, str) else text)


def rendered(**changes) -> bytes:
    given = {
        "id": "01JABCDEFGHJKMNPQRSTVWXYZ0",
        "title": "deploy-via-make-release",
        "description": "Deploys go via `make release`, never by hand.",
        "actor": "agent",
        "agent": "claude-code",
        "session": "01JABCDEFGHJKMNPQRSTVWXYZ1",
        "created_at": WHEN,
        "updated_at": WHEN,
        "metadata": {"branch": "main"},
        "body": "Use `make release`.",
    }
    return fact.render(**(given | changes))


def test_a_new_fact_has_the_layout_of_the_format():
    assert rendered().decode() == (
        "---\nid: 01JABCDEFGHJKMNPQRSTVWXYZ0\nkind: knowledge\ntitle: deploy-via-make-release\n"
        "description: Deploys go via `make release`, never by hand.\n"
        "metadata:\n  actor: agent\n  agent: claude-code\n  branch: main\n"
        "origin_session_id: 01JABCDEFGHJKMNPQRSTVWXYZ1\n"
        "created_at: 2026-06-09T10:11:12+00:00\nupdated_at: 2026-06-09T10:11:12+00:00\n---\n\nUse `make release`.\n"
    )


def test_what_is_not_given_is_not_written():
    data = rendered(description="", agent=None, session=None, metadata={}, body="")
    assert b"description" not in data
    assert b"agent:" not in data
    assert b"session" not in data
    assert data.endswith(b"\n---\n")
    assert read(data).body == ""


@pytest.mark.parametrize(
    "title",
    [
        "Rollout: blue first (Phase: two)",
        "#1",
        "[x]",
        "{y}",
        "&a",
        "*b",
        "!c",
        "%d",
        "@e",
        " lead",
        "trail ",
        "yes",
        "null",
        "~",
        "1.10",
        "'single'",
        '"double"',
        "a\nb",
        "😀",
        "back\\slash",
        "0x10",
        "2026-03-16",
        "10:00",
        "-",
        "a #b",
        "key:",
        "\x85\u2028\ufeff",
    ],
)
def test_a_title_survives_any_number_of_rewrites(title):
    data = rendered(title=title, description=title)
    for step in range(3):
        data = fact.edit(data, updated_at=WHEN + timedelta(days=step))
        assert (read(data).title, read(data).description) == (title, title)
    moved = fact.edit(fact.edit(data, title="other"), title=title)
    assert read(moved).title == title


def test_a_head_too_long_for_readers_is_not_written():
    with pytest.raises(fact.HeadTooLarge) as caught:
        rendered(description="x" * 70_000)
    assert caught.value.exit_code is ExitCode.REJECTED


@pytest.mark.parametrize(
    "body", ["---\na: b\n---\nx", "---", "\n\nx", "x\n\n\n", "", "\n", "a\rb", "\x0c\x1b[0m", "x: y", "= \u2028"]
)
def test_a_body_comes_back_byte_for_byte(body):
    assert read(rendered(body=body)).body == body


def test_an_unquoted_colon_leaves_a_searchable_body_and_is_never_rewritten():
    data = b"---\ntitle: Rollout: green pool (Step: one)\ntags: [x]\n---\nDrain first.\n"
    found = read(data)
    assert (found.head_ok, found.body_offset) == (False, 0)
    assert found.title == "Rollout: green pool (Step: one)"
    assert "Drain first." in found.body
    for change in ({"title": "x"}, {"body": "x"}, {"updated_at": WHEN}):
        with pytest.raises(fact.HeadUnreadable) as caught:
            fact.edit(data, **change)
        assert (caught.value.code, caught.value.details) == ("MEMORY_REJECTED", {"reason": "head"})


@pytest.mark.parametrize(
    "text",
    [
        "--- columns: one\nno metadata here\nkey: v\n---\n",
        "---\\nstatus: active\\n---\\nText",
        "a --- b --- c",
        "----\na: b\n----\n",
        " ---\na: b\n---\n",
        "---\nnever closed\n",
    ],
)
def test_what_only_resembles_a_fence_is_body(text):
    found = read(text)
    assert (found.body, found.metadata, found.head_ok) == (text.removesuffix("\n"), {}, True)


def test_rules_in_the_body_stay_where_they_are():
    body = "One.\n\n---\n\nkey: value\n\n---\n\nThree.\n"
    data = f"---\ntitle: Parts\n---\n{body}".encode()
    assert read(data).body == body.removesuffix("\n")
    assert fact.edit(data, title="Renamed parts") == f"---\ntitle: Renamed parts\n---\n{body}".encode()


def test_a_bom_and_crlf_are_read_through_and_kept():
    data = b"\xef\xbb\xbf---\r\ntitle: Old editor\r\ntags: [bom]\r\n---\r\nHost is lantern.\r\n"
    found = read(data)
    assert (found.title, found.body) == ("Old editor", "Host is lantern.")
    edited = fact.edit(data, title="New", description="d")
    assert edited == (b"\xef\xbb\xbf---\r\ntitle: New\r\ntags: [bom]\r\ndescription: d\r\n---\r\nHost is lantern.\r\n")
    assert fact.edit(data, body="a\nb").endswith(b"---\r\n\r\na\r\nb\r\n")


def test_classic_mac_line_ends():
    data = b"---\rtitle: Old\r---\rBody\r"
    assert (read(data).title, read(data).body) == ("Old", "Body")
    assert fact.edit(data, title="New") == b"---\rtitle: New\r---\rBody\r"


def test_scalars_and_dates_stay_as_written():
    head = "created: 2026-03-16\nmoved: 2026-05-13T20:00:00-04:00\nnightly: 10:00\nc: NO\nf: off\nv: 1.10\nb: 007\n"
    data = f"---\ntitle: Odd\n{head}---\nBody.\n".encode()
    assert read(data).created_at == datetime(2026, 3, 16, tzinfo=UTC)
    assert fact.edit(data, description="new") == f"---\ntitle: Odd\n{head}description: new\n---\nBody.\n".encode()
    values = read(
        "---\nmetadata:\n  v: 1.10\n  c: NO\n  t: 10:00\n  d: 2026-03-16\n  n: [1.0, no]\n  m: {x: 0x1}\n---\n"
    ).metadata
    assert values == {"v": "1.10", "c": "NO", "t": "10:00", "d": "2026-03-16", "n": "1.0, no", "m.x": "0x1"}


def test_a_persons_keys_comments_and_order_survive():
    data = (
        b"---\ntitle: Mine  # my note\nx-by: red\nnested:\n  b: 2\n  a: 1\n"
        b'# left here\naliases: ["one", two]\n---\nText.\n'
    )
    edited = fact.edit(data, title="Ours", updated_at=WHEN, metadata={"ref": "a b"})
    assert edited.splitlines() == [
        b"---",
        b"title: Ours  # my note",
        b"x-by: red",
        b"nested:",
        b"  b: 2",
        b"  a: 1",
        b"# left here",
        b'aliases: ["one", two]',
        b"updated_at: 2026-06-09T10:11:12+00:00",
        b"metadata:",
        b"  ref: a b",
        b"---",
        b"Text.",
    ]


def test_files_of_another_tool():
    found = read(
        "---\nname: small-commits\ndescription: One idea in each\n"
        "metadata:\n  type: feedback\n  originSessionId: s1\n---\nSplit it.\n"
    )
    assert (found.title, found.description, found.session) == ("small-commits", "One idea in each", "s1")
    assert found.metadata["type"] == "feedback"
    assert (found.actor, found.agent, found.ref, found.has_id) == (None, None, None, False)


def test_duplicate_keys_are_read_and_refused_on_edit():
    data = b"---\ntitle: First\ntags: [a]\ntitle: Second\nnote:\tafter a tab\n---\nBody.\n"
    assert read(data).title == "Second"
    with pytest.raises(fact.HeadUnreadable, match="more than once"):
        fact.edit(data, title="Third")
    edited = fact.edit(data, description="d")
    assert edited == data.replace(b"a tab\n", b"a tab\ndescription: d\n")


def test_bytes_that_are_not_utf8():
    data = b"---\ntitle: Leftovers\n---\nThe caf\xe9 list \xff\xfe is on mondays.\n"
    found = read(data)
    assert found.replaced
    assert "mondays" in found.body
    assert fact.edit(data, title="New") == data.replace(b"Leftovers", b"New")
    assert not read("really \ufffd written").replaced


def test_conflict_markers():
    both = "<<<<<<< HEAD\n7 copies\n=======\n30 copies\n>>>>>>> 1a2b3c4\n"
    inside = read(f"---\ntitle: Backup window\n{both}---\nAt 01:00.\n{both}")
    assert (inside.conflict, inside.head_ok, inside.title) == (True, False, "Backup window")
    assert read(f"---\ntitle: t\n---\n{both}").conflict
    assert fact.conflicted(both.replace("\n", "\r\n"))
    assert not fact.conflicted("A heading\n=======\n")
    assert not fact.conflicted("we saw <<<<<<< and ======= and >>>>>>> inline")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# A heading #\n\nText.", "A heading"),
        ("Text first. More.\n\n## Then a heading\n", "Then a heading"),
        ("One thing. Another.", "One thing"),
        ("```sh\n# a comment\n```\n", "a comment"),
        ("", "some-note"),
        ("***\n---\n", "some-note"),
        ("---\ntitle:\n---\nBody here.", "Body here"),
        ("---\ndescription: From it. And more\n---\n# H\n", "From it"),
        ("---\n---\nx", "x"),
        ("---\n# only\n---\nx", "x"),
    ],
)
def test_a_title_is_always_found(text, title):
    assert read(text).title == title


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- > **Use pnpm.** Never npm.", "Use pnpm.** Never npm.".replace("** Never npm.", "")[:-1]),
        ("\n\n  1. First step! Second.", "First step!"),
        ("版本号在文件里。另一个", "版本号在文件里"),
        ("真的\uff1f是", "真的\uff1f"),
        ("v1.2 e.g. this is one. Next", "v1.2 e.g. this is one"),
        ("word " * 40, "word " * 16 + "…"),
        ("字" * 100, "字" * 79 + "…"),
        ("--- \n***", ""),
        ("#tag stays", "#tag stays"),
    ],
)
def test_first_sentence(text, sentence):
    assert fact.first_sentence(text).replace(" …", "…") == sentence.replace(" …", "…")


def test_ids():
    digest = int.from_bytes(hashlib.sha256(b"knowledge/inbox/some-note.md").digest(), "big")
    found = read("no head")
    assert (len(found.id), found.has_id) == (26, False)
    assert found.id[0] == "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[digest >> 251]
    assert read("---\nid: ../../x\n---\n").id == found.id
    assert read("---\nid: mine-1\n---\n").id == found.id  # another tool's key, not one of our ids
    assert ulid.derived("\udcff.md")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-06-09T10:11:12Z", WHEN),
        ("2026-06-09 10:11:12", WHEN),
        ("2026-06-09 12:11:12 +02:00", WHEN),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("2026-06-09T06:11:12-04:00", WHEN.astimezone(timezone(timedelta(hours=-4)))),
    ],
)
def test_times(text, moment):
    assert read(f"---\ncreated_at: {text}\nupdated: '{text}'\n---\n").created_at == moment
    assert read(f"---\ncreated_at: {text}\nupdated: '{text}'\n---\n").updated_at == moment


def test_a_file_without_a_head_gets_one_only_for_what_needs_one():
    assert fact.edit(b"Text.\n", updated_at=WHEN) == b"Text.\n"
    assert fact.edit(b"Text.\n", body="New") == b"New\n"
    assert fact.edit(b"Text.\n", title="T") == b"---\ntitle: T\n---\n\nText.\n"
    assert read(fact.edit(b"Text.\n", body="---\na: b\n---\n")).body == "---\na: b\n---\n"
    assert fact.edit(b"---\ntitle: T\n---", body="x") == b"---\ntitle: T\n---\n\nx\n"


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("{title: a}", "braces"),
        ("? title\n: a", "begin its line"),
        ("title: &t a\nb: *t", "in place"),
        ("metadata: x", "metadata"),
        ("metadata: {a: b}", "braces"),
    ],
)
def test_shapes_that_cannot_be_edited_by_the_line_are_refused(head, why):
    with pytest.raises(fact.HeadUnreadable, match=why):
        fact.edit(f"---\n{head}\n---\nx".encode(), title="b", metadata={"k": "v"})


def test_values_of_many_lines_are_replaced_whole():
    data = b"---\ntitle: |\n  one\n\n  two\n\n# c\nmetadata:\n  z: >-\n    q\nk: v\n---\nx"
    edited = fact.edit(data, title="new", metadata={"z": "r", "w": "s"})
    assert edited == b"---\ntitle: new\n\n# c\nmetadata:\n  z: r\n  w: s\nk: v\n---\nx"
    assert fact.edit(b"---\nmetadata: {}\n---\n", metadata={"a": "b"}) == b"---\nmetadata:\n  a: b\n---\n"


@pytest.mark.parametrize(
    "head",
    [
        "[" * 60_000,
        "{a: " * 15_000,
        "- " * 30_000,
        "a: b\n" * 20_000,
        "&a " * 20_000,
        "a: &a [x, x]\n" + "".join(f"b{i}: [*a, *a]\n" for i in range(4000)),
        "metadata: &m\n  a: &m1 [1]\n" + "  b: *m1\n",
        "".join(" " * i + "a:\n" for i in range(300)),
        "x: " + '"' * 60_000,
        "title: " + "a: " * 20_000,
    ],
)
def test_bombs_are_read_quickly(head):
    start = time.process_time()
    found = read(f"---\n{head}\n---\nBody.\n")
    assert found.title
    assert time.process_time() - start < 1


def test_long_runs_of_anything_are_read_quickly():
    for piece in ("\r", "---\n", "#", "# ", " ", ". ", "> ", "- ", "<<<<<<<\n", "=======\n", "-", "1. ", "```"):
        text = "---\n" + piece * (1_000_000 // len(piece))
        start = time.process_time()
        read(text)
        fact.first_sentence(text)
        assert time.process_time() - start < 1, piece


def test_our_own_facts_are_read_without_yaml():
    code = (
        "import sys; from cofferctl import fact, secrets; f = fact.parse('a.md', sys.stdin.buffer.read());"
        "assert f.has_id and f.title == 'Rollout: \\u2028 one', f; secrets.mask(f.title);"
        "heavy = {'yaml', 'frontmatter', 'json', 'subprocess'} & sys.modules.keys(); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], input=rendered(title="Rollout: \u2028 one"), check=True)
