"""Searching (S cases): any text is a question, the right fact stands first, reading changes nothing."""

from __future__ import annotations

import json
import time

import pytest
from support.memory import snapshot

from cofferctl.choices import BadChoice

WORDS = [
    ("The fish days are Tuesday and Friday", "fish days:"),
    ("Ada wrote the Green Lamp memo", 'who wrote "Green Lamp"?'),
    ('The coolant pipe is 36" wide and blue', 'pipe 36" blue'),
    ("The multi-agent demo runs nightly", "multi-agent"),
    ("Settings are read in src/app/main.py", "src/app/main.py"),
    ("CI images are ubuntu 20.04 for now", "ubuntu 20.04"),
    ("We don't retry on status 400", "don't retry"),
    ("Only C++ code may use (templates)", "C++ (templates)"),
    ("Never pass --no-verify to git commit", "--no-verify"),
    ("error: boom means the fuse is blown", "error: boom"),
    ("Ask email@example.org for keys", "email@example.org"),
    ("Use snake_case_names in Python", "snake_case_names"),
    ("The path is C:\\tools\\bin on Windows", "C:\\tools\\bin"),
    ("Set $HOME/bin first in PATH", "$HOME/bin"),
    ("E0308 is a mismatched type", "e0308"),
]
ODD = [
    *("AND", "OR b", "NOT", "a && b || !c", '"unclosed', 'tag:"x', "foo*bar", "~/notes", "100%", "a ++b -c"),
    *("back\\slash", "(", ")", "[1 TO", "{", "^2", "+", "-x", "--", "-", "title:", "body:*", "\\", "/a/", "a~2"),
    *("'", "`", "<|>", "#", "&", "IN [a b]", "x:[* TO *]", "^", "field^^2", "$HOME", "https://example.org/a?b=c"),
    *("", "  ", "\t\n", "\0", "\u202e", "a" * 5_000, "é" * 500, "🦆", "的"),
]


@pytest.fixture
def words(memory):
    for text, _ in WORDS:
        memory.remember(text)
    return memory


def test_s01_punctuation_is_text(words):
    for text, query in WORDS:
        assert text in words.texts(query, top_k=3), query
        assert words.recall(query, mode="grep").mode == "grep"


def test_s01_no_query_is_an_error(words):
    for query in ODD:
        for mode in ("keyword", "grep", "hybrid"):
            words.recall(query, mode=mode)


def test_s04_a_plain_question_finds_its_fact(words):
    words.remember("Rory answers only in the quiet channel")
    words.remember("The spare key has number qx00317")
    for query in ("why is Rory not answering my messages", "can I reach Rory", "who is Rory?", "rory"):
        assert words.texts(query)[0] == "Rory answers only in the quiet channel", query
    assert words.texts("qx00317 banana")[0] == "The spare key has number qx00317"
    assert words.texts("is there something about the qx00317 banana thing, please?")[0].endswith("qx00317")


CJK = [
    ("数据库迁移", "订单数据库迁移脚本放在第五个目录", ["迁移脚本", "订单数据库", "第五个目录"]),
    ("バックアップ", "本番のバックアップは金曜日の深夜に取る", ["金曜日", "深夜", "バックアップ"]),
    ("배포 절차", "배포서버는 매주 월요일에 점검한다", ["점검", "월요일", "배포서버"]),
    ("ความลับ", "เซิร์ฟเวอร์สำรองอยู่ที่เชียงใหม่", ["เชียงใหม่"]),
    ("mixed", "用 pytest 跑测试 with -n 2", ["跑测试", "pytest"]),
]


def test_s06_parts_of_words_in_scripts_without_spaces(memory):
    memory.import_lines(*(json.dumps({"title": title, "text": text}) for title, text, _ in CJK))
    memory.remember("The bread knife lies in the third drawer")
    for title, _, queries in CJK:
        for query in queries:
            hits = memory.hits(query)
            assert hits[0].title == title, query
            assert "bread" not in " ".join(hit.text for hit in hits)


def test_s08_nothing_is_better_than_something_unrelated(memory):
    for text in ("Knead the dough for ten minutes", "Salt the water before the pasta", "Rest the roast under foil"):
        memory.remember(text)
    for query in ("kubernetes ingress timeout", "量子力学", "zzzz", "how do we do that?"):
        assert memory.hits(query) == (), query
    assert all(hit.score > 0 for hit in memory.hits("dough kubernetes"))


def test_s10_reading_leaves_no_trace(memory):
    made = memory.days_ago(400).remember("The aged cheese fact")
    newer = memory.remember("The cheese board is by the window")
    memory.recall("cheese")
    before, head = snapshot(memory.store.directory / "knowledge"), memory.head()
    order = [hit.id for hit in memory.hits("cheese")]
    for _ in range(50):
        memory.recall("aged cheese")
        memory.list()
    assert snapshot(memory.store.directory / "knowledge") == before
    assert memory.head() == head
    assert [hit.id for hit in memory.hits("cheese")] == order
    shown = next(hit for hit in memory.hits("cheese") if hit.id == made.id)
    age = time.time() - time.mktime(time.strptime(shown.time[:10], "%Y-%m-%d"))
    assert 398 * 86_400 < age < 402 * 86_400
    assert [item.id for item in memory.list().facts] == [newer.id, made.id]


def test_s11_one_row_for_a_fact_and_for_a_text(memory):
    long = "\n\n".join(f"## Part {number}\n\nThe pump of part {number} " + "hums along " * 40 for number in range(10))
    memory.remember(long[:8_000], title="Long pump")
    memory.import_lines(*(json.dumps({"text": "The pump is red", "ref": f"r{number}"}) for number in range(3)))
    memory.remember("The pump is red", scope="global")
    for number in range(3):
        memory.remember(f"Pump number {number} is off")
    hits = memory.hits("pump", top_k=20)
    assert len({hit.id for hit in hits}) == len(hits)
    assert len(hits) == 5
    (red,) = [hit for hit in hits if hit.text.strip() == "The pump is red"]
    assert red.count == 4
    assert len(memory.hits("pump", top_k=4)) == 4


def test_s12_a_limit_counts_answers(memory):
    for number in range(30):
        memory.remember(f"Ferry number {number} " + "leaves at noon " * 50)
    (only,) = memory.hits("ferry", top_k=1)
    assert len(only.text) > 100
    for wrong in (0, -1, 100_000):
        with pytest.raises(BadChoice):
            memory.recall("ferry", top_k=wrong)
