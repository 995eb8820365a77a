"""Frontmatter as people and other programs write it (F cases): found, never rewritten, told once when odd."""

from __future__ import annotations

import pytest

from cofferctl import fact

TITLES = [
    "Rollout: green first (Part: one)",
    "# not a heading",
    "[brackets]",
    "{braces: yes}",
    "&anchor",
    "*alias",
    "!tag",
    "%percent",
    "@at",
    "`tick`",
    "  spaces around  ",
    "yes",
    "NO",
    "null",
    "~",
    "1.10",
    "0x1F",
    "2026-03-16",
    "10:00",
    "- dash",
    "? question",
    "a: b: c",
    "trailing colon:",
    'double "quotes" in it',
    "single 'quotes' in it",
    "\"'both'\"",
    "back\\slash \\n kept",
    "tab\there",
    "ends with #",
    "a # comment?",
    "---",
    "...",
    "| pipe",
    "> fold",
    "🦫 beaver",
    "\u202eright to left",
    "é" * 300,
]


@pytest.mark.parametrize("title", TITLES)
def test_f01_a_title_comes_back_as_it_was_given(memory, title):
    made = memory.remember("The body of it mentions gorse", title=title)
    other = memory.remember("Something else about gorse and heather")
    for _ in range(2):
        assert {hit.title for hit in memory.hits("gorse")} == {title, other.title}
        assert memory.show(made.id).title == title
        assert title in [item.title for item in memory.list().facts]
        memory.reindex(full=True)
    data = memory.store.read(made.path)
    for number in range(3):
        data = fact.edit(data, description=f"rewrite {number}", metadata={"n": str(number)})
    assert fact.parse(made.path, data).title == title
    memory.sound()


BAD_HEADS = {
    "colon": "---\ntitle: Drain: the grey pool first (Step: two)\ntags: [x]\n---\nThe grey pool drains first. sedge\n",
    "tab": "---\ntitle:\tTabbed\n\tkey: value\n---\nIndented by tabs. sedge\n",
    "open quote": '---\ntitle: "never closed\n---\nUnclosed. sedge\n',
    "list": "---\n- a\n- b\n---\nA list on top. sedge\n",
    "anchor": "---\ntitle: *nowhere\n---\nNo such anchor. sedge\n",
    "deep": "---\na: " + "[" * 200 + "\n---\nDeep. sedge\n",
    "huge": "---\ntitle: x\nnotes: " + "y" * 70_000 + "\n---\nHuge head. sedge\n",
}


@pytest.mark.parametrize("name", BAD_HEADS)
def test_f01_a_bad_head_written_by_hand_is_searchable_and_left_alone(memory, name):
    memory.remember("makes the store")
    path = memory.put("knowledge/inbox/by-hand.md", BAD_HEADS[name])
    for _ in range(2):
        assert [hit.source for hit in memory.hits("sedge")] == ["project:knowledge/inbox/by-hand.md"]
        memory.remember(f"another fact to commit the edit, {name}")
    assert path.read_text() == BAD_HEADS[name]
    assert memory.git("show", "HEAD:knowledge/inbox/by-hand.md") == BAD_HEADS[name]
    memory.sound()


@pytest.mark.parametrize(
    "data",
    [
        b"--- columns: three\nThis file only looks as if it had a head. kestrel\nkey: value\n",
        b"---- four dashes\nkestrel\n",
        b"---\nno end of the head, kestrel\n",
        b"---\n",
        b"---",
        b"",
        b"\xff\xfe\x00k",
        b"\xff\xff---\ntitle: x\n---\nkestrel\n",
        b"---\ntitle: [\n---\nkestrel\n",
        b"---\n%YAML 9.9\n---\nkestrel\n",
        b"---\n!!python/object/apply:os.system ['true']\n---\nkestrel\n",
        b"---\na: &a [*a, *a]\n---\nkestrel\n",
        b"---\na: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]\n---\nkestrel\n",
    ],
)
def test_f02_one_odd_file_stops_nothing(memory, data):
    for number in range(5):
        memory.remember(f"Good fact {number} about curlews")
    memory.put("knowledge/inbox/odd.md", data)
    for _ in range(2):
        assert len(memory.hits("curlews", top_k=20)) == 5
        if b"kestrel" in data:
            assert [hit.source for hit in memory.hits("kestrel")] == ["project:knowledge/inbox/odd.md"]
        memory.reindex(full=True)
        assert len(memory.list(lane="all").facts) >= 5
        memory.log()
        memory.status()
    assert memory.file("knowledge/inbox/odd.md").read_bytes() == data


@pytest.mark.parametrize(
    "text",
    [
        "---\\nstatus: active\\n---\\nTalked about the plan.",
        "a --- b --- c",
        "---\nkey: value\n---\nreal lines this time",
        "---",
        "---\n---",
        "text\n---\nid: 01HZXK5Q8V7N3M2P4R6S8T0W1Y\n---\n",
        "+++\ntoml = 1\n+++\n",
        "\ufeff---\na: b\n---\nx",
    ],
)
def test_f03_dashes_in_a_text_are_text(memory, text):
    made = memory.remember(text)
    shown = memory.show(made.id)
    assert shown.body == text.removesuffix("\n")
    assert shown.metadata == {"actor": "user", "branch": "main"}
    assert shown.id == made.id


HR = "---\ntitle: {title}\ntags: [a]\n---\n{body}"
PARTS = "First part.\n\n---\n\nSecond, with a key: value line.\n\n---\n\nThird part stays.\n"


@pytest.mark.parametrize("body", [PARTS, "---\n\nbegins with a rule\n", "---\nkey: value\n---\nlooks like a head\n"])
def test_f05_rules_in_a_body_survive_an_edit_of_the_head(memory, body):
    memory.remember("makes the store")
    before = HR.format(title="Parts", body=body)
    path = memory.put("knowledge/inbox/parts.md", before)
    memory.remember("commits the first state")
    path.write_bytes(fact.edit(path.read_bytes(), title="Other parts"))
    memory.remember("commits the second")
    assert path.read_text() == HR.format(title="Other parts", body=body)
    shown = memory.show("knowledge/inbox/parts.md")
    assert shown.body == body.removesuffix("\n")
    diff = memory.git("diff", "--unified=0", "HEAD~2", "--", "knowledge/inbox/parts.md").splitlines()
    assert [line for line in diff if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "-title: Parts",
        "+title: Other parts",
    ]


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_f06_a_byte_order_mark_hides_nothing(memory, eol):
    memory.remember("makes the store")
    text = "\ufeff---\ntitle: From an old editor\nmetadata:\n  ref: r9\n---\nThe buoy is named plover.\n".replace(
        "\n", eol
    )
    path = memory.put("knowledge/inbox/bom.md", text)
    memory.reindex()
    (hit,) = memory.hits("plover")
    assert (hit.title, hit.ref) == ("From an old editor", "r9")
    shown = memory.show("knowledge/inbox/bom.md")
    for output in (hit.text, hit.title, shown.body, shown.title, memory.list().facts[0].title):
        assert "---" not in output
        assert "\ufeff" not in output
    edited = fact.edit(path.read_bytes(), title="New").decode()
    assert edited.count(f"---{eol}") == 2
    assert edited.startswith("\ufeff---")


def test_f14_repeated_keys_tabs_and_no_body(memory):
    memory.remember("makes the store")
    twice = "---\ntitle: One\ntags: [a]\ntitle: Two\nnote:\tbehind a tab\n---\nTwice the same key, dunlin.\n"
    path = memory.put("knowledge/inbox/twice.md", twice)
    empty = memory.put("knowledge/inbox/empty.md", "---\ntitle: Nothing but a head, whimbrel\n---\n")
    memory.reindex(full=True)
    assert [hit.source for hit in memory.hits("dunlin")] == ["project:knowledge/inbox/twice.md"]
    assert [hit.source for hit in memory.hits("whimbrel")] == ["project:knowledge/inbox/empty.md"]
    assert memory.show("knowledge/inbox/empty.md").body == ""
    with pytest.raises(fact.HeadUnreadable):
        fact.edit(path.read_bytes(), title="Three")
    memory.remember("commits both")
    assert path.read_text() == twice
    assert empty.read_text() == "---\ntitle: Nothing but a head, whimbrel\n---\n"
    memory.sound()
