"""Which texts meet which queries: identifiers, scripts without spaces, forms of one character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coffer_index.analyze import analyze, day_words, question


def tokens(text):
    words, exact = analyze(text)
    return {*words, *exact}


def asked(query):
    return {form for term in question(query)[0] for form in (*term.words, *term.exact)}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("set_if_equals", "setIfEquals"),
        ("setIfEquals", "set_if_equals"),
        ("setIfEquals", "setifequals"),
        ("HTTP2Server", "http2server"),
        ("HTTP2Server", "server"),
        ("git commit --no-verify", "--no-verify"),
        ("git commit --no-verify", "no-verify"),
        ("see src/foo/bar.py.", "src/foo/bar.py"),
        ("see src/foo/bar.py.", "bar.py"),
        ("see src/foo/bar.py:", "foo/bar.py"),
        ("C++ (templates)", "c++"),
        ("C#, not Java", "C#"),
        ("the .env file", ".env"),
        ("error[E0308]: mismatched", "E0308"),
        ("HTTP 429.", "429"),
        ("ＡＢＣ１２３", "abc123"),
        ("abc123", "ＡＢＣ１２３"),
        ("合约转换课程", "转换"),
        ("本番デプロイは火曜日", "火曜日"),
        ("빌드서버는 매일", "서버"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("猫が好き", "猫"),
        ("黒猫", "猫"),
        ("ship it 🚀", "🚀"),
        ("C:\\Users\\me", "c:\\users\\me"),
        ("पानी की बोतल", "पानी"),
        ("PostgreSQL", "postgresql"),
        ("v2.10.3", "v2.10.3"),
        ("https://example.org/a?b=c", "https://example.org/a?b=c"),
    ],
)
def test_a_query_meets_its_text(text, query):
    assert tokens(text) & asked(query)


def test_whole_identifiers_are_told_from_their_parts():
    assert "c++" in analyze("C++")[1]
    assert "c++" not in analyze("C#")[1]
    assert analyze("a plain sentence.")[1] == []


def test_stop_words_are_left_out_of_queries_only():
    assert "the" in analyze("the pump")[0]
    assert [term.text for term in question("where is the pump")[0]] == ["pump"]
    assert [term.text for term in question("to be or not to be")[0]] == ["to", "be", "or", "not"]


@pytest.mark.parametrize("query", ["", "   ", "\n", "?!...", '"', "--", "&& ||", "()[]{}", "\ud800", "\x00"])
def test_nothing_to_ask_is_no_error(query):
    assert isinstance(question(query)[0], list)


def test_a_huge_query_is_cut():
    assert [term.text for term in question("pump valve " * 100_000)[0]] == ["pump", "valve"]
    assert len(question(" ".join(f"w{n}x" for n in range(100_000)))[0]) <= 64
    assert len(question("漢字" * 500_000)[0]) <= 64


@pytest.mark.parametrize(
    ("day", "words"),
    [("2026-06-09", "2026-06-09 2026-06 9 June 2026"), ("", ""), ("soon", ""), ("2026-13-01", "")],
)
def test_days_in_words(day, words):
    assert day_words(day) == words


@given(st.text())
def test_any_text_gives_clean_tokens(text):
    for token in tokens(text):
        assert token
        assert not any(char.isspace() for char in token)


@given(st.text(min_size=1, max_size=40))
def test_a_text_is_found_by_itself(text):
    if question(text)[0]:
        assert tokens(text) & asked(text)
