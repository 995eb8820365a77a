"""Markdown text to passages: cut at headings and blocks, never longer than a model's window, spans kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# Scripts whose characters are about one token each.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    "\U0001f000-\U0003ffff"
)
_SENTENCE_END = re.compile("[\u3002\uff01\uff1f\n]|[.!?](?=\\s)")


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of a text: `text[start:end]` is exactly its words; `heading` is the path of headings above it."""

    start: int
    end: int
    heading: str


def passages(text: str, title: str = "", *, limit: int = 350) -> list[Passage]:
    """Cut Markdown `text` into passages of at most about `limit` tokens (see `cost`).

    Passages come in order, do not overlap, and together hold every character that is not white space. A heading opens
    a new passage; code fences stay whole when they fit; a line that is too long is cut, at a sentence end if there is
    one. A heading equal to `title` is left out of the heading paths: the title is known already.
    """
    found: list[Passage] = []
    start = end = spent = 0
    above = ""
    bare = False  # the open passage holds nothing but headings so far
    for begin, finish, heading, is_heading in _blocks(text, title, 4 * limit):
        grown = spent + cost(text[end:finish])
        if end and grown <= 4 * limit and (heading == above or bare):
            end, spent, above, bare = finish, grown, heading, bare and is_heading
            continue
        if end:
            found.append(Passage(start, end, above))
        start, end, above, bare = begin, finish, heading, is_heading
        spent = cost(text[start:end])
    if end:
        found.append(Passage(start, end, above))
    return found


def cost(text: str) -> int:
    """Estimated size of `text` in quarter tokens: a character of a dense script is one token, another a quarter."""
    size = len(text)
    return size if text.isascii() else size + 3 * sum(map(len, _dense().findall(text)))


@cache
def _dense() -> re.Pattern[str]:
    # Compiled when the first text needs it: sets this large take a millisecond.
    return re.compile(f"[{_DENSE}]+")


_Block = tuple[int, int, str, bool]
"""(start, end, headings above it, whether it is a heading itself)."""


def _blocks(text: str, title: str, limit: int) -> Iterator[_Block]:
    """Headings, fences and paragraphs in order, without the white space around them, each at most `limit` in cost."""
    path: list[tuple[int, str]] = []
    above = ""
    for start, end, heading in _spans(text):
        if heading:
            level = len(heading[1])
            path = [*((deep, name) for deep, name in path if deep < level), (level, heading[2].strip())]
            above = " > ".join(name for _, name in path if name and name != title)
        for piece_start, piece_end in _pieces(text, start, end, limit):
            yield piece_start, piece_end, above, heading is not None


def _spans(text: str) -> Iterator[tuple[int, int, re.Match[str] | None]]:
    """(start, end, heading match or None) of each block; blocks may have white space at their ends."""
    start = position = 0
    fence = ""
    for line in text.split("\n"):
        begin, position = position, position + len(line) + 1
        if fence:
            if _closes(line, fence):
                yield start, min(position, len(text)), None
                fence, start = "", position
            continue
        opening = _FENCE.match(line)
        heading = _HEADING.match(line)
        if opening or heading or not line.strip():
            if start < begin:
                yield start, begin, None
            start = begin
        if opening:
            fence = opening[1]
        elif heading:
            yield begin, min(position, len(text)), heading
            start = position
    if start < len(text):
        yield start, len(text), None


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return mark.startswith(fence) and not mark.strip(fence[0])


def _pieces(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """A block without the white space around it, cut into about equal pieces if it is larger than `limit`."""
    start, end = _strip(text, start, end)
    left = cost(text[start:end])
    while left > limit:
        share = left // -(-left // limit) + 1
        cut = _cut(text, start, min(share, limit), limit)
        piece = _strip(text, start, cut)
        if piece[0] < piece[1]:
            yield piece
        left -= cost(text[start:cut])
        start = cut
    start, end = _strip(text, start, end)
    if start < end:
        yield start, end


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    block = text[start:end]
    return start + len(block) - len(block.lstrip()), end - (len(block) - len(block.rstrip()))


def _cut(text: str, start: int, share: int, limit: int) -> int:
    """Where to cut after about `share`: at the sentence end nearest to it, else at a space, else right there."""
    hard = _reach(text, start, limit)
    soft = _reach(text, start, share)
    floor = start + (soft - start) // 2
    ends = [match.end() for match in _SENTENCE_END.finditer(text, floor, hard)]
    if ends:
        return min(ends, key=lambda end: abs(end - soft))
    space = text.rfind(" ", floor, soft)
    return space + 1 if space > 0 else max(soft, start + 1)


def _reach(text: str, start: int, budget: int) -> int:
    """The furthest end such that `text[start:end]` costs at most `budget`."""
    window = text[start : start + budget]
    if window.isascii():
        return start + len(window)
    spent = 0
    dense = _dense()
    for index, char in enumerate(window):
        spent += 4 if dense.match(char) else 1
        if spent > budget:
            return start + index
    return start + len(window)
