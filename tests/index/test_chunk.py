"""Passages hold the text, in order, within the bound, under the right headings."""

from hypothesis import given
from hypothesis import strategies as st

from coffer_index.chunk import cost, passages

lines = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "# One", "## Two", "### Three", "```", "```py", "~~~", "  ", "- item", "漢字" * 40, "w " * 300]
    ),
)
markdown = st.lists(lines, max_size=30).map("\n".join)


@given(markdown, st.integers(min_value=5, max_value=350))
def test_spans_hold_everything_in_order_within_the_bound(text, limit):
    end = 0
    for passage in passages(text, limit=limit):
        assert end <= passage.start < passage.end <= len(text)
        assert not text[end : passage.start].strip()
        piece = text[passage.start : passage.end]
        assert piece == piece.strip()
        assert cost(piece) <= 4 * limit
        end = passage.end
    assert not text[end:].strip()


def texts(text, title="", limit=350):
    return [(passage.heading, text[passage.start : passage.end]) for passage in passages(text, title, limit=limit)]


def test_headings_travel_with_their_passages():
    found = texts("# Pump\n\nIntro.\n\n## Repair\n\nTurn it.\n\n### Tools\n\nA wrench.\n\n## Cost\n\nFew.", "Pump")
    assert [heading for heading, _ in found] == ["", "Repair", "Repair > Tools", "Cost"]
    assert found[2][1] == "### Tools\n\nA wrench."


def test_a_heading_without_text_joins_what_follows():
    assert texts("# A\n\n## B\n\ntext") == [("A > B", "# A\n\n## B\n\ntext")]


def test_fences_stay_whole_and_hide_headings():
    fence = "```sh\n# not a heading\n\nmake\n```"
    found = texts("para " * 60 + "\n\n" + fence + "\n\nend", limit=80)
    assert any(fence in text for _, text in found)
    assert {heading for heading, _ in found} == {""}


def test_an_unclosed_fence_runs_to_the_end():
    assert texts("```\n# x\n\ny") == [("", "```\n# x\n\ny")]


def test_a_giant_line_is_cut_at_sentences():
    found = texts("The pump runs. " * 400)
    assert len(found) > 1
    assert all(text.endswith(".") for _, text in found)


def test_giant_lines_without_a_break_are_cut_anyway():
    assert len(passages("x" * 1_000_000)) > 700
    assert len(passages("漢" * 100_000)) > 280


def test_blank_texts_have_no_passage():
    assert passages("") == passages(" \n\n\t") == []
