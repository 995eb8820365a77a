"""How an answer of recall reads: a headline, the passage with its words marked, and where it is from."""

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
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    out = render.console()
    pattern = _pattern(result.query)
    for number, hit in enumerate(result.hits, start=1):
        grid = Table.grid(padding=(0, 1))
        grid.add_column(justify="right", style="dim", width=2)
        grid.add_column(overflow="fold")
        lines = [*(Text(render.clean(line), style="bold") for line in headline(hit)), _passage(hit, pattern)]
        lines += [Text(render.clean(line), style="dim") for line in footer(hit)]
        grid.add_row(str(number), Text("\n").join(lines))
        out.print(grid)
        out.print()


def headline(hit: Hit) -> Iterator[str]:
    """The hit's title, unless the passage begins with it."""
    title = " ".join(hit.title.split())
    if not " ".join(hit.text.split()).startswith(title.removesuffix("…")):
        yield title


def footer(hit: Hit) -> Iterator[str]:
    """Where the hit is from, what is special about it, and, if that was asked, why it stands where it stands."""
    parts = [hit.id, hit.time[:10], hit.source]
    if hit.count:
        parts.append(f"said {hit.count} times")
    if hit.conflict:
        parts.append("holds merge markers")
    yield "  ".join(parts)
    if hit.explain:
        ranks = ", ".join(f"{item.name} rank {item.rank} score {item.score}" for item in hit.explain.retrievers)
        yield f"{ranks}; words found: {' '.join(hit.explain.terms)}"


def _passage(hit: Hit, pattern: re.Pattern[str] | None) -> Text:
    from rich.text import Text  # noqa: PLC0415

    made = Text(render.clean(hit.text.strip("\n")))
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
