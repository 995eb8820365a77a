"""What a search finds, shows and leaves out."""

import pytest

FACTS = {
    "fish": "On fish days the market opens at six.",
    "lamp": 'The novel "Green Lamp" was written by Ada.',
    "pipe": 'The pipe is 36" wide and blue.',
    "multi": "We use a multi-agent setup.",
    "main": "The entry point is src/app/main.py in the repo.",
    "ubuntu": "Servers run ubuntu 20.04 only.",
    "retry": "Please don't retry failed payments.",
    "cpp": "We write C++ (templates) sparingly.",
    "and": "a AND gate has two inputs.",
    "or": "OR b is the other branch.",
    "url": "See https://example.org/a?b=c for details.",
    "unclosed": 'An "unclosed quote is an error.',
    "tag": 'Search by tag:"x" in the tracker.',
    "mail": "Write to email@example.org for access.",
    "glob": "foo*bar matches foobazbar.",
    "notes": "Drafts live in ~/notes on the laptop.",
    "percent": "Coverage must be 100% on main.",
    "home": "Scripts are installed to $HOME/bin by make.",
    "logic": "Write a && b || !c without spaces.",
    "slash": "Windows paths use back\\slash as separator.",
}
SPECIAL = [
    ("fish days:", "fish"),
    ('who wrote "Green Lamp"?', "lamp"),
    ('pipe 36" blue', "pipe"),
    ("multi-agent", "multi"),
    ("src/app/main.py", "main"),
    ("ubuntu 20.04", "ubuntu"),
    ("don't retry", "retry"),
    ("C++ (templates)", "cpp"),
    ("a AND", "and"),
    ("OR b", "or"),
    ("https://example.org/a?b=c", "url"),
    ('"unclosed', "unclosed"),
    ('tag:"x', "tag"),
    ("email@example.org", "mail"),
    ("foo*bar", "glob"),
    ("~/notes", "notes"),
    ("100%", "percent"),
    ("$HOME/bin", "home"),
    ("a && b || !c", "logic"),
    ("back\\slash", "slash"),
]


@pytest.fixture
def special(shelf):
    for name, body in FACTS.items():
        shelf.put(f"inbox/{name}.md", body)
    shelf.sync()
    return shelf


@pytest.mark.parametrize(("query", "name"), SPECIAL)
def test_special_characters_are_words_not_syntax(special, query, name):
    assert name in special.find(query)[:3]


@pytest.mark.parametrize("query", ["", "  ", "\t\n", "?!", '"', "-", "+", "()", "\ud800", "\x00", "~^:*", "\\"])
def test_nothing_asked_nothing_found(special, query):
    assert special.find(query) == []


def test_only_stop_words_still_find_them(special):
    assert special.find("is the") != []
    assert special.find("the")
    assert special.find("who am I") == []


def test_a_huge_query_is_answered(special):
    assert special.find("ubuntu " * 150_000) == ["ubuntu"]
    special.find("漢" * 1_000_000)
    special.find("x" * 1_000_000)
    special.find(" ".join(f"word{number}" for number in range(150_000)))


def test_one_word_asked_twice_is_no_phrase(special):
    assert special.find("ubuntu ubuntu") == ["ubuntu"]
    assert special.find("UBUNTU, Ubuntu's ubuntu!") == ["ubuntu"]


@pytest.mark.parametrize(
    "query", ["why is Codey not replying to my messages", "can I reach Codey", "zx00841 banana", "ZX00841"]
)
def test_a_plain_question_finds_the_fact(shelf, query):
    shelf.put("inbox/ops.md", "Codey replies only in the ops channel; ticket zx00841")
    shelf.put("inbox/kettle.md", "The kettle is on the second shelf, why not")
    shelf.put("inbox/tea.md", "Messages about tea go to the kitchen list")
    shelf.sync()
    assert shelf.find(query)[0] == "ops"


def test_words_inside_scripts_without_spaces(shelf):
    shelf.put("inbox/zh.md", "中文合约转换课程的问题记录在第三页", title="合约转换")
    shelf.put("inbox/ja.md", "本番デプロイは火曜日の午前に行う", title="デプロイ手順")
    shelf.put("inbox/ko.md", "빌드서버는 매일 새벽에 재시작한다", title="빌드 서버")
    shelf.put("inbox/en.md", "The kettle is on the second shelf", title="unrelated")
    shelf.sync()
    assert shelf.find("合约转换") == ["zh"]
    assert shelf.find("火曜日") == ["ja"]
    assert shelf.find("재시작") == ["ko"]
    assert shelf.find("页") == ["zh"]


@pytest.mark.parametrize(
    "query", ["kubernetes ingress timeout", "docker port mapping", "数据库", "E0308", "バックアップ"]
)
def test_unrelated_questions_find_nothing(shelf, query):
    shelf.put("inbox/a.md", "Ingredients: pressed garlic, eggs and kumquats; a portion serves four.")
    shelf.put("inbox/b.md", "Bake the bread for an hour, e.g. on Sundays; time it out of the oven.")
    shelf.put("inbox/c.md", "烤面包需要一个小时。パンを焼く。 Rocker and doctor liked it.")
    shelf.sync()
    assert shelf.find(query) == []


def test_a_word_alone_finds_longer_words(shelf):
    shelf.put("inbox/a.md", "authentication goes through the gateway")
    shelf.sync()
    assert shelf.find("auth") == ["a"]
    assert shelf.find("auth flow of the moon") == []


def test_days_are_found_in_iso_form_and_in_words(shelf):
    shelf.put("inbox/a.md", "the pump broke", day="2026-06-09")
    shelf.put("inbox/b.md", "the pump was mended", day="2026-07-10")
    shelf.sync()
    for query in ("2026-06-09", "9 June 2026", "June 9", "what happened in June?"):
        assert shelf.find(query)[0] == "a"


def test_equal_texts_are_one_hit_with_a_count(disk):
    for name in ("a", "b", "c"):
        disk.put(f"inbox/{name}.md", "the pump is  broken\n" if name == "c" else "the pump is broken")
    disk.put("inbox/d.md", "another pump")
    disk.sync()
    hits = disk.search("pump broken")
    assert sorted((hit.id in "abc", hit.count) for hit in hits) == [(False, 1), (True, 3)]
    del disk.files["inbox/a.md"]
    disk.sync()
    assert {hit.count for hit in disk.search("pump broken")} == {1, 2}


def test_one_hit_per_inbox_fact_and_three_per_topic(shelf):
    parts = "\n\n".join(f"## Part {n % 6}\n\npump number {n} " + "and more words here " * 60 for n in range(30))
    shelf.put("inbox/big.md", parts)
    shelf.put("topics/big.md", "Other text. " + parts, passages=3)
    shelf.put("inbox/small.md", "a pump")
    shelf.sync()
    hits = shelf.search("pump", limit=5)
    assert [hit.path for hit in hits].count("inbox/big.md") == 1
    topic = [hit.heading for hit in hits if hit.path == "topics/big.md"]
    assert len(topic) == len(set(topic)) <= 3
    assert "small" in [hit.id for hit in hits]


def test_limits_count_hits(shelf):
    for number in range(120):
        shelf.put(f"inbox/{number}.md", f"pump number {number}")
    shelf.sync()
    assert len(shelf.search("pump", limit=1)) == 1
    assert len(shelf.search("pump", limit=50)) == 50
    assert len(shelf.search("pump", limit=100_000)) == 120
    for limit in (0, -1):
        with pytest.raises(ValueError, match="limit"):
            shelf.search("pump", limit=limit)


def test_limit_is_filled_past_copies_and_ghosts(shelf):
    for number in range(300):
        shelf.put(f"inbox/copy{number}.md", "pump pump pump")
    shelf.put("inbox/one.md", "a long story about many things and also about the pump in the yard")
    shelf.sync()
    assert len(shelf.search("pump", limit=2)) == 2
    live = {"inbox/one.md": shelf.map["inbox/one.md"]}
    assert shelf.find("pump", limit=1, files=live) == ["one"]
    assert shelf.find("pump", files={"inbox/one.md": "other blob"}) == []


def test_lanes_and_since(shelf):
    shelf.put("inbox/a.md", "pump in the inbox", time=100.0)
    shelf.put("topics/b.md", "pump in a topic", time=200.5)
    shelf.sync()
    assert shelf.find("pump", lanes=["inbox"]) == ["a"]
    assert sorted(shelf.find("pump", lanes=["inbox", "topics"])) == ["a", "b"]
    assert shelf.find("pump", lanes=[]) == shelf.find("pump", lanes=["none"]) == []
    assert shelf.find("pump", since=200.5) == ["b"]
    assert shelf.find("pump", since=200.6) == []


def test_a_hit_says_where_and_why(shelf):
    shelf.put(
        "topics/t.md",
        "Intro\n\n## Repair\n\nTurn the pump",
        id="T1",
        title="Water",
        offset=50,
        extra="x\0y",
        passages=3,
    )
    shelf.sync()
    (hit,) = shelf.search("why turn the pump?")
    assert (hit.path, hit.id, hit.title, hit.lane, hit.extra) == ("topics/t.md", "T1", "Water", "topics", "x\0y")
    assert (hit.start, hit.end, hit.heading) == (57, 81, "Repair")
    assert hit.blob == shelf.map["topics/t.md"]
    assert hit.terms == ("turn", "pump")
    assert hit.ranks == (("keyword", 1, hit.score),)


def test_titles_alone_are_found_and_not_folded(shelf):
    shelf.put("inbox/a.md", "", title="Pump manual")
    shelf.put("inbox/b.md", " \n", title="Pump price")
    shelf.sync()
    assert sorted(shelf.find("pump")) == ["a", "b"]


def test_undecodable_text_is_searchable(shelf):
    shelf.put("inbox/a.md", "pump \udcff broken", title="\udc80 x", extra="\udc80")
    shelf.sync()
    assert shelf.search("pump")[0].extra == "\udc80"


def test_the_better_match_comes_first(shelf):
    shelf.put("inbox/one.md", "the pump is in the yard")
    shelf.put("inbox/both.md", "the yard pump needs oil twice a year")
    shelf.put("inbox/exact.md", "set_if_equals is slow")
    shelf.put("inbox/parts.md", "set the value if it equals zero")
    shelf.sync()
    assert shelf.find("pump oil")[0] == "both"
    assert shelf.find("setIfEquals")[0] == "exact"
