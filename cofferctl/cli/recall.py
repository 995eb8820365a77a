r"""Search the memory, best answer first.

QUERY is a question or some words, in any language; identifiers, paths and options of programs are found as they are
written. Both the project's store and the global one are searched. What an editor, git or another agent changed a moment
ago is found; nothing is written and no model is asked.

Examples:
  cofferctl recall "how do we deploy?"

  cofferctl recall set_if_equals --lane inbox --since 2w

  cofferctl recall 'port \d+' --mode grep --regex

  cofferctl recall -- --no-verify
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single, text_argument

if TYPE_CHECKING:
    from cofferctl.commands.recall import Recalled

SECTION = "remember and recall"


def _recall(
    run: Run,
    query: Annotated[str, typer.Argument(metavar="QUERY|-", help="What to look for, or - for standard input.")],
    mode: Annotated[str | None, typer.Option(metavar="MODE", help="keyword, grep, vector or hybrid.")] = None,
    top_k: Annotated[int | None, typer.Option("-k", metavar="N", help="Answers at most, 1 to 20.")] = None,
    lane: Annotated[
        list[str] | None, typer.Option(metavar="LANE", help="inbox, topics, journal or knowledge (repeatable).")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="2026-06-09, 7d, 2w, yesterday.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each answer is there.")] = False,
    regex: Annotated[bool, typer.Option("--regex", help="grep: a regular expression.")] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case/--case-sensitive", help="grep: either.")] = True,
) -> None:
    from cofferctl.commands.recall import recall  # noqa: PLC0415

    result = recall(
        run.coffer,
        text_argument(query),
        mode=mode,
        top_k=top_k,
        lane=lane or (),
        since=since,
        regex=regex,
        ignore_case=ignore_case,
        explain=explain,
        **run.where,
    )
    run.answer(result, _plain)


def _plain(result: Recalled) -> None:
    from cofferctl.cli import words  # noqa: PLC0415 - not for --json

    if not result.hits:
        render.talk("nothing found")
    if render.terminal():
        words.show_hits(result)
        return
    for number, hit in enumerate(result.hits, start=1):
        first, *rest = [*words.headline(hit), *hit.text.strip("\n").split("\n"), *words.footer(hit)]
        render.line(f"{number}. {first}")
        for text in rest:
            render.line(f"   {text}".rstrip())
        render.line()


app = single(__doc__, _recall)
