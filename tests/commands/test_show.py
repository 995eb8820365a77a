"""show: one fact, whole."""

from __future__ import annotations

import pytest

from cofferctl.history.log import NoSuchRevision
from cofferctl.lanes import PathRefused
from cofferctl.selecting import Ambiguous, NoSuchFact

TOKEN = "xoxb-" + "263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1"


def test_a_fact_by_id_prefix_and_path(memory):
    made = memory.remember("The lamp is green", title="Lamp")
    for selector in (made.id, made.id[:6], made.id[:20].lower(), made.path, f"./{made.path}"):
        if selector == made.id[:6] and len(memory.list().facts) > 1:
            continue
        shown = memory.show(selector)
        assert (shown.id, shown.title, shown.body, shown.lane) == (made.id, "Lamp", "The lamp is green", "inbox")
    assert shown.path == str(memory.file(made.path))
    assert shown.folder_path == str(memory.file("knowledge/inbox"))
    assert (shown.commit, shown.history) == (made.commit, 1)
    assert shown.raw is None


def test_a_fact_by_the_source_that_recall_names(memory):
    memory.remember("The lamp is green")
    everywhere = memory.remember("The lamp is blue", scope="global")
    for hit in memory.hits("lamp"):
        assert memory.show(hit.source).id == hit.id
    with pytest.raises(NoSuchFact):
        memory.show(f"project:{everywhere.path}")
    with pytest.raises(PathRefused):
        memory.show("project:../x.md")


def test_a_fact_is_found_in_either_store(memory):
    made = memory.remember("Everywhere", scope="global")
    assert memory.show(made.id).scope == "global"
    assert memory.show(made.path).store == "global"
    with pytest.raises(NoSuchFact):
        memory.show(made.id, scope="project")


def test_an_entry_of_a_journal_by_the_id_that_recall_gives(memory):
    memory.remember("seed")
    memory.file("journal").mkdir()
    mark = "<!-- id 01HZXK5Q8V7N3M2P4R6S8T0W1Y actor user -->"
    text = f"## 10:00 Kestrel\n\nA kestrel.\n\n## 11:30 Marmot\n{mark}\n\nA marmot.\n"
    memory.file("journal/2026-06-09.md").write_text(text)
    for query, title in (("marmot", "Marmot"), ("kestrel", "Kestrel")):
        (hit,) = memory.hits(query)
        shown = memory.show(hit.id)
        assert (shown.id, shown.title, shown.lane) == (hit.id, title, "journal")
        assert title.lower() in shown.body
    assert memory.show("journal/2026-06-09.md").body == text.removesuffix("\n")


@pytest.mark.parametrize(
    "selector", ["01ABC", "lamp", "", "01ABCDEFGHJKMNPQRSTVWXYZ00", "knowledge/inbox/no.md", "*", "HEAD"]
)
def test_nothing_is_guessed(memory, selector):
    memory.remember("The lamp is green", title="lamp")
    with pytest.raises(NoSuchFact):
        memory.show(selector)


@pytest.mark.parametrize(
    "selector",
    [
        "../x.md",
        "/etc/passwd",
        "knowledge/../../x.md",
        ".git/config",
        "knowledge/inbox/.git/x.md",
        "a\\..\\b.md",
        "store.toml/x",
        "C:/x.md",
    ],
)
def test_a_path_that_leads_out_is_refused(memory, selector):
    memory.remember("x")
    with pytest.raises(PathRefused):
        memory.show(selector)


def test_a_beginning_of_two_ids_is_ambiguous(memory):
    head = "---\nid: 01HZXK5Q8V7N3M2P4R6S8T0W{0}\n---\n{1}\n"
    memory.remember("makes the store")
    memory.put("knowledge/inbox/a.md", head.format("01", "one"))
    memory.put("knowledge/inbox/b.md", head.format("02", "two"))
    with pytest.raises(Ambiguous) as caught:
        memory.show("01HZXK")
    assert len(caught.value.details["paths"]) == 2
    assert memory.show("01HZXK5Q8V7N3M2P4R6S8T0W02").body == "two"


def test_two_files_of_one_id_are_told_apart_by_path(memory):
    memory.remember("makes the store")
    for name in ("a", "b"):
        memory.put(f"knowledge/inbox/{name}.md", f"---\nid: 01HZXK5Q8V7N3M2P4R6S8T0W01\n---\n{name}\n")
    with pytest.raises(Ambiguous):
        memory.show("01HZXK5Q8V7N3M2P4R6S8T0W01")
    assert memory.show("knowledge/inbox/b.md").body == "b"


def test_as_it_was_then(memory):
    made = memory.days_ago(10).remember("The lamp is green")
    target = memory.file(made.path)
    target.write_text(target.read_text().replace("green", "red"))
    memory.days_ago(1).remember("commits the edit")
    assert memory.show(made.id).body == "The lamp is red"
    for then in ("5d", made.commit, made.commit[:10], "HEAD~2"):
        assert memory.show(made.id, at=then).body == "The lamp is green"
    assert memory.show(made.id).history == 2


@pytest.mark.parametrize("at", ["feedbeef", "HEAD~99", "nonsense", "main~x"])
def test_a_revision_that_is_none_is_not_found(memory, at):
    made = memory.remember("x")
    with pytest.raises(NoSuchRevision):
        memory.show(made.id, at=at)


def test_before_it_was_there(memory):
    made = memory.remember("x")
    with pytest.raises(NoSuchFact):
        memory.show(made.id, at="30d")


def test_the_file_itself(memory):
    made = memory.remember("Body", title="T")
    assert memory.show(made.id, raw=True).raw == memory.file(made.path).read_text()


def test_secrets_are_masked_unless_revealed(memory):
    made = memory.remember(f"use {TOKEN}", title=f"key {TOKEN}", allow_secret=True)
    for shown in (memory.show(made.id, raw=True), made):
        assert TOKEN.lower() not in str(shown).lower()
    shown = memory.show(made.id, raw=True, reveal=True)
    assert TOKEN in shown.body
    assert TOKEN in shown.title
    assert TOKEN in shown.raw


def test_a_fact_not_committed_yet(memory):
    memory.remember("makes the store")
    memory.put("knowledge/inbox/new.md", "By hand\n")
    shown = memory.show("knowledge/inbox/new.md")
    assert (shown.commit, shown.history, shown.actor, shown.body) == (None, 0, "outside", "By hand")


def test_a_file_with_merge_markers_is_marked(memory):
    memory.remember("makes the store")
    memory.put("knowledge/inbox/m.md", "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n")
    assert memory.show("knowledge/inbox/m.md").conflict is True
