"""remember: one text, one file, one commit."""

from __future__ import annotations

import pytest

from cofferctl import fact, ulid
from cofferctl.coffer import BadScope, ScopeAndStore
from cofferctl.fact import HeadTooLarge
from cofferctl.intake import Rejected
from cofferctl.scope import ScopeUnresolved
from cofferctl.store import NoSuchStore

SECRET = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"


def test_a_text_becomes_a_file_in_the_inbox_and_one_commit(memory):
    made = memory.remember("Releases are cut on Thursdays. Never on Fridays.")
    assert ulid.PATTERN.fullmatch(made.id)
    assert (made.scope, made.store, made.title) == ("project", memory.store.name, "Releases are cut on Thursdays")
    assert made.path == "knowledge/inbox/releases-are-cut-on-thursdays.md"
    assert made.commit == memory.head()
    read = memory.store.fact(made.path)
    assert (read.id, read.body, read.actor) == (made.id, "Releases are cut on Thursdays. Never on Fridays.", "user")
    assert read.metadata["branch"] == "main"
    assert memory.git("log", "--format=%s").splitlines() == [f"remember: {made.title}"]
    memory.sound()


def test_the_commit_tells_who_and_what(memory):
    made = memory.remember("Ports below 1024 need sudo", actor="agent", agent="otter", session="s-7")
    message = memory.git("log", "-1", "--format=%an <%ae>%n%B")
    assert message.startswith("otter <otter@coffer.invalid>\nremember: Ports below 1024 need sudo\n")
    for trailer in (
        "Coffer-Event: memory_added",
        f"Coffer-Id: {made.id}",
        "Coffer-Actor: agent",
        "Coffer-Agent: otter",
        "Coffer-Session: s-7",
    ):
        assert trailer in message.splitlines()


def test_an_agents_shell_is_known_by_its_marker(memory):
    memory.env = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "abc"}
    shown = memory.show(memory.remember("Seen from inside an agent").id)
    assert (shown.actor, shown.agent, shown.session) == ("agent", "claude-code", "abc")


def test_a_person_in_an_agents_shell_can_say_so(memory):
    memory.env = {"CLAUDECODE": "1"}
    shown = memory.show(memory.remember("I typed this myself", actor="user").id)
    assert (shown.actor, shown.agent) == ("user", None)


def test_the_same_text_again_changes_nothing(memory):
    first = memory.remember("Only once")
    head = memory.head()
    again = memory.remember("Only once", title="Another title")
    assert (again.id, again.duplicate_of, again.path, again.commit) == (first.id, first.id, first.path, first.commit)
    assert memory.head() == head
    assert len(memory.list().facts) == 1


def test_a_text_that_differs_by_one_byte_is_another_fact(memory):
    assert memory.remember("Only once").id != memory.remember("Only once ").id
    assert len(memory.list().facts) == 2


def test_the_same_text_in_the_global_store_is_another_fact(memory):
    here, there = memory.remember("Both places"), memory.remember("Both places", scope="global")
    assert here.id != there.id
    assert there.store == "global"
    assert there.duplicate_of is None


def test_global_needs_no_project(memory, tmp_path):
    made = memory.at(tmp_path).remember("I like short answers", scope="global")
    assert (made.store, made.scope) == ("global", "global")
    assert "branch" not in memory.everywhere.fact(made.path).metadata


def test_without_a_project_nothing_is_stored_by_accident(memory, tmp_path):
    with pytest.raises(ScopeUnresolved):
        memory.at(tmp_path).remember("x")
    assert not (tmp_path / "coffer").exists()


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", "\u3000"])
def test_nothing_is_no_fact(memory, text):
    with pytest.raises(Rejected) as caught:
        memory.remember(text)
    assert caught.value.details["reason"] == "empty"


def test_a_long_text_is_refused_with_both_numbers(memory):
    with pytest.raises(Rejected) as caught:
        memory.remember("a" * 8_193)
    assert caught.value.details == {"reason": "too_long", "length": 8_193, "limit": 8_192}
    assert memory.remember("字" * 8_192).commit


def test_a_stores_own_limit_counts(memory):
    memory.remember("makes the store")
    memory.put("store.toml", memory.file("store.toml").read_text() + "max_fact_chars = 64\n")
    with pytest.raises(Rejected):
        memory.remember("b" * 65)
    assert memory.remember("c" * 64)


@pytest.mark.parametrize("where", ["text", "title", "description"])
def test_a_secret_is_refused_wherever_it_stands(memory, where):
    given = {"text": "Some text", "title": None, "description": None, where: f"see {SECRET} there"}
    with pytest.raises(Rejected) as caught:
        memory.remember(given["text"], title=given["title"], description=given["description"])
    refusal = caught.value
    assert refusal.details["reason"] == "secret"
    assert refusal.details["span"] == [4, 4 + len(SECRET)]
    assert SECRET not in f"{refusal.message}{refusal.hint}{refusal.details}"


def test_a_secret_stored_on_purpose_is_masked_in_the_subject(memory):
    memory.remember(f"token {SECRET}", allow_secret=True)
    assert SECRET not in memory.git("log", "--format=%B")


def test_nul_characters_are_refused(memory):
    with pytest.raises(Rejected) as caught:
        memory.remember("bin\0ary")
    assert caught.value.details["reason"] == "binary"


@pytest.mark.parametrize("where", ["title", "description"])
def test_nul_characters_in_a_head_are_harmless(memory, where):
    made = memory.remember("Text", **{where: "a\0b"})
    assert getattr(memory.show(made.id), where) == "a\0b"
    assert memory.hits("Text")[0].id == made.id


def test_line_ends_become_lf(memory):
    made = memory.remember("one\r\ntwo\r\n")
    assert memory.store.read(made.path).endswith(b"\n\none\ntwo\n")


def test_a_head_that_no_reader_would_take_is_refused(memory):
    with pytest.raises(HeadTooLarge):
        memory.remember("x", description="d" * 70_000)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"scope": "both"}, BadScope),
        ({"scope": "here"}, BadScope),
        ({"scope": "global", "store": "global"}, ScopeAndStore),
        ({"store": "project-x"}, NoSuchStore),
        ({"store": "../../etc"}, NoSuchStore),
    ],
)
def test_a_place_that_is_none_is_refused(memory, options, error):
    with pytest.raises(error):
        memory.remember("x", **options)


def test_a_store_can_be_named(memory, tmp_path):
    memory.remember("first")
    made = memory.at(tmp_path).remember("from outside", store=memory.store.name)
    assert made.scope == "project"
    assert memory.hits("outside")[0].id == made.id


def test_what_a_person_edited_is_committed_first_and_apart(memory):
    made = memory.remember("The queue is called blue")
    target = memory.file(made.path)
    target.write_text(target.read_text().replace("blue", "green"))
    memory.remember("Something else")
    assert [entry.event for entry in memory.log().entries] == ["memory_added", "outside_edit", "memory_added"]
    assert memory.log().entries[1].actor == "outside"
    memory.sound()


def test_in_the_middle_of_a_merge_the_text_is_kept_for_the_next_write(memory):
    memory.remember("one")
    head = memory.head()
    memory.file(".git/MERGE_HEAD").write_text(head + "\n")
    made = memory.remember("two")
    assert made.commit is None
    assert "not committed yet" in made.notices[0]
    assert memory.head() == head
    assert "two" in memory.texts("two")
    memory.file(".git/MERGE_HEAD").unlink()
    memory.remember("three")
    assert memory.git("ls-files", made.path).strip() == made.path
    memory.sound()


def test_similar_facts_are_named_once_the_index_knows_them(memory):
    first = memory.remember("The staging database runs on port 5433")
    assert memory.remember("Nothing alike").similar == ()
    memory.recall("staging")
    made = memory.remember("The staging database runs on port 5444")
    assert [other.id for other in made.similar] == [first.id]


def test_many_facts_of_one_title_get_names_of_their_own(memory):
    paths = {memory.remember(f"text {number}", title="Same title").path for number in range(5)}
    assert len({path.casefold() for path in paths}) == 5


def test_a_title_is_kept_as_given_and_a_body_too(memory):
    text = "  indented\n\n```\n--- not a head\n```\ntail  "
    made = memory.remember(text, title="  spaced: 'title' ")
    read = fact.parse(made.path, memory.store.read(made.path))
    assert (read.title, read.body) == ("  spaced: 'title' ", text)
