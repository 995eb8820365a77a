"""Literal and regular-expression search over the files themselves, without any index."""

from __future__ import annotations

import math
import re
import time
from dataclasses import replace

from coffer_index.chunk import Passage, passages
from coffer_index.keyword import digest
from coffer_index.model import Document, Hit, InvalidPattern, Loader, PatternTooSlow

TYPE_CHECKING = False  # spares every cold process the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    Finder = Callable[[str], list[int]]

_MOST_REPEATS = 1_000_000


def grep(
    pattern: str,
    files: Iterable[str],
    load: Loader,
    *,
    regex: bool,
    ignore_case: bool,
    limit: int,
    lanes: Collection[str] | None = None,
    since: float | None = None,
    timeout: float = 5.0,
) -> list[Hit]:
    """Passages that contain `pattern`, those with most matches first, then the newest.

    Args:
        pattern: a literal text, or a regular expression (`^` and `$` match at every line) when `regex` is set.
        files: the paths to read; those that cannot be read are left out.
        load: reads one file.
        regex: see `pattern`.
        ignore_case: whether upper and lower case are the same.
        limit: the most hits to return, at least 1.
        lanes: only documents of these lanes.
        since: only documents with `time` at or after it (POSIX seconds).
        timeout: seconds that a regular expression may take over all files.

    Matches are counted in title, description and body; a hit's score is the count in its passage. Equal texts are
    folded and each document shows at most its own number of passages, as in `Index.search`. `Hit.blob` is ''.

    Raises:
        InvalidPattern: not a regular expression.
        PatternTooSlow: it took longer than `timeout`.
        ValueError: `limit` is below 1.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    if not pattern:
        return []
    find = _regex_finder(pattern, ignore_case, timeout) if regex else _literal_finder(pattern, ignore_case)
    hits: list[tuple[Hit, int]] = []
    for document in _documents(files, load):
        in_lane = lanes is None or document.lane in lanes
        if in_lane and (since is None or document.time >= since):
            hits.extend((hit, document.passages) for hit in _hits(document, find, pattern))
    hits.sort(key=lambda item: (-item[0].score, -item[0].time, item[0].path, item[0].start))
    return _fold(hits, limit)


def _documents(files: Iterable[str], load: Loader) -> Iterator[Document]:
    for path in files:
        try:
            documents = load(path)
        except Exception:  # noqa: BLE001, S112 - one bad file must not hide what the others hold
            continue
        yield from documents


def _literal_finder(pattern: str, ignore_case: bool) -> Finder:
    compiled = re.compile(re.escape(pattern), re.IGNORECASE if ignore_case else 0)
    return lambda text: [match.start() for match in compiled.finditer(text)]


def _regex_finder(pattern: str, ignore_case: bool, timeout: float) -> Finder:
    import regex  # noqa: PLC0415 - 10 ms that only this kind of search needs

    # Compiling has no time limit, and unrolls counted repeats: "(((a{999}){999}){999})" would never end.
    if math.prod(max(1, int(count)) for count in re.findall(r"\{(\d+)", pattern)) > _MOST_REPEATS:
        raise InvalidPattern("not a usable regular expression: its counted repeats multiply to too many")
    flags = regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
    try:
        compiled = regex.compile(pattern, flags)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise InvalidPattern(f"not a regular expression: {error}") from error
    deadline = time.monotonic() + timeout

    def find(text: str) -> list[int]:
        # No time left is a timeout at the first step; `regex` takes 0 or less for none at all.
        left = max(deadline - time.monotonic(), 1e-6)
        try:
            return [match.start() for match in compiled.finditer(text, timeout=left) if match.end() > match.start()]
        except TimeoutError as error:
            raise PatternTooSlow(f"the pattern took longer than {timeout:g} s") from error

    return find


def _hits(document: Document, find: Finder, pattern: str) -> Iterator[Hit]:
    """The passages of one document that hold matches; one in the title counts for the first passage."""
    starts = find(document.body)
    beside = len(find(document.title)) + len(find(document.description))
    if not starts and not beside:
        return
    for number, passage in enumerate(passages(document.body, document.title) or [Passage(0, 0, "")]):
        inside = sum(passage.start <= start < passage.end for start in starts)
        score = inside + (beside if number == 0 else 0)
        if score:
            yield _hit(document, passage, float(score), pattern)


def _hit(document: Document, passage: Passage, score: float, pattern: str) -> Hit:
    text = document.body[passage.start : passage.end]
    return Hit(
        path=document.path,
        blob="",
        id=document.id,
        title=document.title,
        lane=document.lane,
        time=document.time,
        extra=document.extra,
        start=document.offset + passage.start,
        end=document.offset + passage.end,
        heading=passage.heading,
        score=score,
        digest=digest(text or f"{document.title}\n{document.description}"),
        terms=(pattern,),
    )


def _fold(hits: list[tuple[Hit, int]], limit: int) -> list[Hit]:
    """Equal texts once with the number of their documents, each document within its own limit, ranks numbered."""
    chosen: dict[str, Hit] = {}
    copies: dict[str, set[tuple[str, str]]] = {}
    headings: dict[tuple[str, str], set[str]] = {}
    for hit, cap in hits:
        copies.setdefault(hit.digest, set()).add((hit.path, hit.id))
        shown = headings.setdefault((hit.path, hit.id), set())
        if hit.digest in chosen or len(shown) >= cap or hit.heading in shown or len(chosen) >= limit:
            continue
        shown.add(hit.heading)
        chosen[hit.digest] = hit
    return [
        replace(hit, count=len(copies[hit.digest]), ranks=(("grep", rank, hit.score),))
        for rank, hit in enumerate(chosen.values(), 1)
    ]
