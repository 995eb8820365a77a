"""Rank fusion across stores."""

import pytest

from coffer_index import Hit, fuse


def hit(name, score=1.0, count=1):
    return Hit(f"{name}.md", "b", name, name, "inbox", 0.0, "", 0, 1, "", score, f"digest-{name}", count)


def names(fused):
    return [(source, found.id) for source, found in fused]


def test_lists_interleave_by_rank_whatever_their_scores():
    fused = fuse([[hit("a", 90.0), hit("b", 80.0)], [hit("c", 0.1), hit("d", 0.05)]], limit=10)
    assert names(fused) == [(0, "a"), (1, "c"), (0, "b"), (1, "d")]
    assert [found.score for _, found in fused] == [90.0, 0.1, 80.0, 0.05]


def test_equal_texts_fold_and_rise():
    fused = fuse([[hit("a"), hit("x", count=2)], [hit("b"), hit("x", count=3)]], limit=10)
    assert names(fused)[0] == (0, "x")
    assert fused[0][1].count == 5
    assert len(fused) == 3


def test_the_better_rank_stands_for_a_folded_text():
    assert names(fuse([[hit("a"), hit("x")], [hit("x")]], limit=1)) == [(1, "x")]


def test_the_limit_counts_hits():
    assert len(fuse([[hit("a"), hit("b")], [hit("c")]], limit=2)) == 2
    assert fuse([], limit=3) == fuse([[], []], limit=3) == []
    with pytest.raises(ValueError, match="limit"):
        fuse([[hit("a")]], limit=0)
