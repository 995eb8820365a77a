"""recall: what the memory knows, best first."""

from __future__ import annotations

import pytest

from cofferctl.choices import BadChoice
from cofferctl.commands.recall import QueryTooLong
from cofferctl.dates import BadDate
from cofferctl.scope import ScopeUnresolved
from cofferctl.searching import BadPattern
from cofferctl.store import NoSuchStore

JOURNAL = """\
# 2026-06-09

## 09:15 Morning deploy
<!-- id 01HZXK5Q8V7N3M2P4R6S8T0W1Y -->
The marmot rollout went out.

## 17:40 Evening
Nothing about rodents.
"""


def test_a_hit_says_what_it_is_and_where_it_is_from(memory):
    made = memory.remember("The build cache lives in the walnut bucket", title="Build cache")
    answer = memory.recall("walnut")
    assert (answer.query, answer.mode, answer.fallback, answer.notices) == ("walnut", "keyword", False, ())
    assert answer.scopes == ("project", "global")
    (hit,) = answer.hits
    assert (hit.id, hit.title, hit.lane, hit.store) == (made.id, "Build cache", "inbox", memory.store.name)
    assert hit.source == f"project:{made.path}"
    assert hit.text.strip() == "The build cache lives in the walnut bucket"
    assert hit.commit == memory.head()
    assert hit.score > 0
    assert (hit.ref, hit.count, hit.conflict, hit.explain) == (None, None, None, None)


def test_an_empty_memory_has_no_hits_and_makes_nothing(memory, tmp_path):
    assert memory.hits("anything") == ()
    assert not (tmp_path / "coffer").exists()


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_query_is_told(memory, query):
    memory.remember("something")
    answer = memory.recall(query)
    assert (answer.hits, answer.notices) == ((), ("the query is empty",))


@pytest.mark.parametrize("query", ["?!", "...", "-", "\0", "\udcff", "\ud800?", "\u3008\u3009"])
def test_a_query_without_words_is_harmless(memory, query):
    memory.remember("something")
    assert memory.hits(query) == ()


def test_both_stores_answer_and_each_alone(memory):
    memory.remember("The parrot lives here")
    memory.remember("The parrot lives everywhere", scope="global")
    assert {hit.source.partition(":")[0] for hit in memory.hits("parrot")} == {"project", "global"}
    assert [hit.store for hit in memory.hits("parrot", scope="global")] == ["global"]
    assert [hit.store for hit in memory.hits("parrot", scope="project")] == [memory.store.name]
    assert [hit.store for hit in memory.hits("parrot", store="global")] == ["global"]


def test_outside_of_projects_the_global_store_answers(memory, tmp_path):
    memory.remember("The parrot lives everywhere", scope="global")
    away = memory.at(tmp_path)
    assert away.recall("parrot").scopes == ("global",)
    assert len(away.hits("parrot", scope="both")) == 1
    with pytest.raises(ScopeUnresolved):
        away.recall("parrot", scope="project")


@pytest.mark.parametrize("number", [0, -1, 21, 100_000])
def test_the_number_of_answers_has_bounds(memory, number):
    with pytest.raises(BadChoice):
        memory.recall("x", top_k=number)


@pytest.mark.parametrize("number", [1, 3, 20])
def test_the_number_of_answers_counts_facts(memory, number):
    for index in range(25):
        memory.remember(f"Heron number {index} stands in pond {index}")
    assert len(memory.hits("heron", top_k=number)) == number


def test_five_answers_are_the_default_and_a_setting_can_change_it(memory, tmp_path):
    for index in range(9):
        memory.remember(f"Heron number {index}")
    assert len(memory.hits("heron")) == 5
    (tmp_path / "coffer/config.toml").write_text("top_k = 7\n")
    assert len(memory.hits("heron")) == 7


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_what_is_not_set_up_falls_back_and_says_so(memory, mode):
    memory.remember("The otter file")
    answer = memory.recall("otter", mode=mode)
    assert (answer.mode, answer.fallback, len(answer.hits)) == ("keyword", True, 1)
    assert mode in answer.notices[0]


def test_a_mode_that_is_none_is_refused(memory):
    with pytest.raises(BadChoice):
        memory.recall("x", mode="psychic")


def test_a_mode_can_be_set_for_a_store(memory):
    memory.remember("Ratio is a.b[0]")
    memory.put("store.toml", memory.file("store.toml").read_text() + 'default_mode = "grep"\n')
    assert memory.recall("a.b[0]").mode == "grep"


def test_grep_takes_text_as_it_is(memory):
    memory.remember("Call f(x).y[0] first\nthen rest", title="One")
    memory.remember("Call fxxyz0 first", title="Two")
    assert [hit.title for hit in memory.hits("f(x).y[0]", mode="grep")] == ["One"]
    assert memory.hits("F(X).Y[0]", mode="grep")
    assert not memory.hits("F(X).Y[0]", mode="grep", ignore_case=False)


def test_grep_takes_patterns_on_request(memory):
    memory.remember("It listens on port 8443 now", title="Port")
    memory.remember("It listens on no port", title="None")
    assert [hit.title for hit in memory.hits(r"port \d{4}", mode="grep", regex=True)] == ["Port"]


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<n>", "a{2,1}"])
def test_a_pattern_that_is_none_is_refused(memory, pattern):
    memory.remember("some text")
    with pytest.raises(BadPattern):
        memory.recall(pattern, mode="grep", regex=True)


def test_a_pattern_cannot_hang_a_recall(memory):
    memory.remember("a" * 8_000 + "!")
    with pytest.raises(BadPattern):
        memory.recall("(a+)+$", mode="grep", regex=True)


def test_lanes_narrow_a_recall(memory):
    memory.remember("The vole in the inbox")
    memory.put("knowledge/animals.md", "# Animals\n\n## Vole\n\nThe vole as a topic.\n")
    memory.put("journal/2026-06-09.md", "# 2026-06-09\n\n## 10:00 Vole\n\nSaw a vole.\n")
    memory.put("rules/vole.md", "Never a vole rule.\n")
    assert {hit.lane for hit in memory.hits("vole")} == {"inbox", "topics", "journal"}
    assert {hit.lane for hit in memory.hits("vole", lane=["knowledge"])} == {"inbox", "topics"}
    assert {hit.lane for hit in memory.hits("vole", lane=["journal", "inbox"])} == {"journal", "inbox"}
    for lane in ("rules", "superseded", "all", "Inbox", ""):
        with pytest.raises(BadChoice):
            memory.recall("vole", lane=[lane])


def test_since_leaves_out_what_is_older(memory):
    memory.days_ago(40).remember("The old badger")
    memory.days_ago(2).remember("The new badger")
    assert len(memory.hits("badger")) == 2
    assert memory.texts("badger", since="7d") == ["The new badger"]
    assert memory.texts("badger", since="7d", mode="grep") == ["The new badger"]
    assert memory.texts("badger", since="yesterday") == []
    for wrong in ("soon", "2026-13-01", "7", "d", ""):
        with pytest.raises(BadDate):
            memory.recall("badger", since=wrong)


def test_a_journal_entry_is_found_by_its_own_time_and_id(memory):
    memory.remember("makes the store")
    memory.put("journal/2026-06-09.md", JOURNAL)
    (hit,) = memory.hits("marmot")
    assert (hit.id, hit.title, hit.lane) == ("01HZXK5Q8V7N3M2P4R6S8T0W1Y", "Morning deploy", "journal")
    assert hit.time.startswith("2026-06-09")
    assert "rodents" not in hit.text


def test_explanations_name_rank_score_and_words(memory):
    memory.remember("The toad crosses the road")
    (hit,) = memory.hits("toad road", explain=True)
    assert hit.explain.retrievers[0].name == "keyword"
    assert hit.explain.retrievers[0].rank == 1
    assert {"toad", "road"} <= set(hit.explain.terms)


def test_a_store_of_no_such_name_is_not_found(memory):
    with pytest.raises(NoSuchStore):
        memory.recall("x", store="projekt")


def test_recall_writes_no_commit_and_no_file(memory):
    made = memory.remember("The quiet fact")
    head, before = memory.head(), memory.file(made.path).stat()
    memory.recall("quiet")
    memory.recall("quiet", mode="grep")
    after = memory.file(made.path).stat()
    assert (memory.head(), after.st_mtime_ns, after.st_ino) == (head, before.st_mtime_ns, before.st_ino)
    memory.sound()


def test_a_query_as_long_as_a_page_is_answered_and_a_book_is_refused(memory):
    memory.remember("The needle word is sassafras")
    assert memory.hits("hay " * 2_000 + "sassafras") is not None
    with pytest.raises(QueryTooLong):
        memory.recall("x" * 100_001)


def test_a_secret_in_a_file_is_masked_in_text_and_title(memory):
    token = "glpat-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm"
    memory.remember("makes the store")
    memory.put("knowledge/inbox/leak.md", f"---\ntitle: key {token}\n---\nThe weasel key is {token} today.\n")
    for mode in ("keyword", "grep"):
        (hit,) = memory.hits("weasel", mode=mode)
        assert token not in f"{hit}"
        assert "today" in hit.text
