"""Literal and regular-expression search over the files."""

import time

import pytest

from coffer_index import InvalidPattern, PatternTooSlow, grep


def run(shelf, pattern, **more):
    options = {"regex": False, "ignore_case": False, "limit": 10} | more
    return grep(pattern, shelf.files, shelf.load, **options)


def test_literal_by_default_ranked_by_matches(shelf):
    shelf.put("inbox/a.md", "a.b once")
    shelf.put("inbox/b.md", "a.b and a.b")
    shelf.put("inbox/c.md", "axb")
    found = run(shelf, "a.b")
    assert [(hit.id, hit.score) for hit in found] == [("b", 2.0), ("a", 1.0)]
    assert found[0].ranks == (("grep", 1, 2.0),)


def test_case_and_regex(shelf):
    shelf.put("inbox/a.md", "Pump\npump\npimp")
    assert run(shelf, "PUMP") == []
    assert run(shelf, "PUMP", ignore_case=True)[0].score == 2
    assert run(shelf, "^p[ui]mp$", regex=True)[0].score == 2
    assert run(shelf, "^p[ui]mp$", regex=True, ignore_case=True)[0].score == 3
    assert run(shelf, "x*", regex=True) == run(shelf, "") == []


def test_equal_texts_fold_and_limits_hold(shelf):
    for name in "abc":
        shelf.put(f"inbox/{name}.md", "the pump")
    shelf.put("topics/t.md", "\n\n".join(f"## H{n}\n\npump {n}" for n in range(9)), passages=3)
    found = run(shelf, "pump")
    assert sorted((hit.id, hit.count) for hit in found) == [("a", 3), ("t", 1), ("t", 1), ("t", 1)]
    assert len(run(shelf, "pump", limit=1)) == 1
    assert {hit.lane for hit in run(shelf, "pump", lanes=["topics"])} == {"topics"}


def test_since_and_newest_first(shelf):
    shelf.put("inbox/old.md", "pump old", time=10.0)
    shelf.put("inbox/new.md", "pump new", time=20.0)
    assert [hit.id for hit in run(shelf, "pump")] == ["new", "old"]
    assert [hit.id for hit in run(shelf, "pump", since=20.0)] == ["new"]


def test_spans_are_places_in_the_file(shelf):
    shelf.put("topics/t.md", "## A\n\nfirst\n\n## B\n\nthe pump", offset=100, passages=3)
    (hit,) = run(shelf, "pump")
    assert (hit.start, hit.end, hit.heading) == (113, 127, "B")


def test_titles_count_for_the_first_passage(shelf):
    shelf.put("topics/t.md", "nothing here", title="Pump")
    assert run(shelf, "Pump")[0].id == "t"


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "(?P<n", "a{3}{4}{5}(", "(((a{999}){999}){999})"])
def test_a_bad_regex_says_so(shelf, pattern):
    shelf.put("inbox/a.md", "aaa")
    with pytest.raises(InvalidPattern):
        run(shelf, pattern, regex=True)


def test_a_slow_regex_is_stopped(shelf):
    shelf.put("inbox/a.md", "a" * 40 + "b")
    began = time.monotonic()
    with pytest.raises(PatternTooSlow):
        run(shelf, "((a|a)*)*$", regex=True, timeout=0.2)
    assert time.monotonic() - began < 3


def test_one_bad_file_hides_no_other(shelf):
    shelf.put("inbox/a.md", "pump")

    def load(path):
        if path == "bad":
            raise RuntimeError(path)
        return shelf.load(path)

    found = grep("pump", ["bad", "gone", "inbox/a.md"], load, regex=False, ignore_case=False, limit=5)
    assert [hit.id for hit in found] == ["a"]
    with pytest.raises(ValueError, match="limit"):
        grep("pump", [], load, regex=False, ignore_case=False, limit=0)
