"""How an answer of recall reads on a terminal: a headline, where it is from, and the passage with its words marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cofferctl.cli import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from cofferctl.commands.recall import Hit, Recalled

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = re.compile(f"[{_CJK}]+|[^\\W{_CJK}][\\w'-]*")
_STEM_FROM = 5


def show_hits(result: Recalled) -> None:
    """Print the hits with rich."""
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    out = render.console()
    pattern = _pattern(result.query)
    for number, hit in enumerate(result.hits, start=1):
        head = Text(f"{number:>2}  ", style="dim")
        head.append(render.clean(" ".join(hit.title.split())), style="bold")
        for mark in marks(hit):
            head.append(f"  {mark}", style="yellow")
        out.print(head, overflow="ellipsis", no_wrap=True)
        out.print(Text(f"    {render.clean(hit.source)}  {hit.time[:10]}  {hit.id}", style="dim"), overflow="fold")
        out.print(Padding(_passage(hit.text, pattern), (0, 0, 0, 4)))
        for line in explanation(hit):
            out.print(Padding(Text(render.clean(line), style="cyan"), (0, 0, 0, 4)))
        out.print()


def marks(hit: Hit) -> Iterator[str]:
    """What is special about a hit, in words."""
    if hit.count:
        yield f"said {hit.count} times"
    if hit.conflict:
        yield "holds merge markers"


def explanation(hit: Hit) -> Iterator[str]:
    """Why a hit stands where it stands, if that was asked."""
    if hit.explain:
        ranks = ", ".join(f"{item.name} rank {item.rank} score {item.score}" for item in hit.explain.retrievers)
        yield f"{ranks}; words found: {' '.join(hit.explain.terms)}"


def _passage(text: str, pattern: re.Pattern[str] | None) -> Text:
    from rich.text import Text  # noqa: PLC0415

    made = Text(render.clean(text.strip("\n")))
    if pattern:
        made.highlight_regex(pattern, "bold green")
    return made


def _pattern(query: str) -> re.Pattern[str] | None:
    """Words of the query, whatever their ending; of a run of Han, Kana or Hangul every two characters."""
    parts: list[str] = []
    for run in _RUN.findall(query):
        if re.match(f"[{_CJK}]", run):
            parts += [re.escape(run[at : at + 2]) for at in range(max(1, len(run) - 1))]
        elif len(run) > 1:
            stem = run[:-2] if len(run) > _STEM_FROM else run
            parts.append(rf"\b{re.escape(stem)}\w*")
    return re.compile("|".join(dict.fromkeys(parts)), re.IGNORECASE) if parts else None
