"""recall: what the memory knows of something, best first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cofferctl import config, dates, documents, lanes, searching, secrets
from cofferctl.choices import BadChoice, check
from cofferctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cofferctl.coffer import Coffer
    from cofferctl.searching import Found
    from cofferctl.store import Store

FUSION_K = 60
LANES = (*sorted(lanes.SEARCHED), "knowledge")
MAX_QUERY_CHARS = 100_000


class QueryTooLong(UsageError):
    """A whole document was given as a query."""

    def __init__(self, length: int) -> None:
        super().__init__(
            f"the query has {length:,} characters, {MAX_QUERY_CHARS:,} are allowed", hint="ask with some words of it"
        )


@dataclass(frozen=True, slots=True)
class Retriever:
    """How one retriever saw a hit: its rank from 1 and its own score."""

    name: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit stands where it stands."""

    retrievers: tuple[Retriever, ...]
    terms: tuple[str, ...]
    heading: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage.

    Attributes:
        id: the fact's.
        text: the passage, as the file holds it; secrets are masked.
        score: the retriever's own; comparable inside one store only.
        source: `<scope>:<path>`.
        time: when the fact was last changed.
        commit: HEAD of its store when the answer was read, None before the first commit.
        ref: what the importer called it.
        count: how many facts say the same, when several do.
        conflict: true when the file holds merge markers.
        explain: on request.
    """

    id: str
    text: str
    score: float
    source: str
    time: str
    title: str
    store: str
    lane: str
    commit: str | None
    ref: str | None = None
    count: int | None = None
    conflict: bool | None = None
    explain: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer. `mode` is what answered; `fallback`: vector or hybrid was asked for and keyword answered alone."""

    query: str
    mode: str
    fallback: bool
    scopes: tuple[str, ...]
    hits: tuple[Hit, ...]
    notices: tuple[str, ...]


def recall(
    coffer: Coffer,
    query: str,
    *,
    mode: str | None = None,
    scope: str | None = None,
    store: str | None = None,
    top_k: int | None = None,
    lane: Sequence[str] = (),
    since: str | None = None,
    regex: bool = False,
    ignore_case: bool = True,
    explain: bool = False,
) -> Recalled:
    """Search the memory; nothing is written and no model is asked.

    Raises:
        UsageError: a mode, lane, number, date or pattern that is none.
        ScopeUnresolved, NoSuchStore, ScopeAndStore: no store to look in.
    """
    options = _options(coffer, query, top_k=top_k, lane=lane, since=since)
    stores = coffer.readable(scope, store)
    there = [found for found in stores if found.exists]
    asked, answered = _mode(coffer, mode, there)
    wanted = searching.Query(query, answered, *options, regex=regex, ignore_case=ignore_case)
    ranked = _search(coffer, there, wanted) if query.strip() else []
    if not query.strip():
        coffer.notice("the query is empty")
    if asked != answered:
        coffer.notice(f"{asked} search is not set up; keyword answered alone")
    return Recalled(
        query=query,
        mode=answered,
        fallback=asked != answered,
        scopes=tuple(found.scope for found in stores),
        hits=tuple(_hit(of, found, head, explain=explain) for of, found, head in ranked),
        notices=tuple(coffer.notices),
    )


def _options(
    coffer: Coffer,
    query: str,
    *,
    top_k: int | None,
    lane: Sequence[str],
    since: str | None,
) -> tuple[int, frozenset[str] | None, float | None]:
    """Hits at most, lanes to look in, and the oldest time to show."""
    low, high = config.TOP_K_RANGE
    limit = int(str(coffer.setting("top_k"))) if top_k is None else top_k
    if not low <= limit <= high:
        raise BadChoice("-k", limit, f"a number from {low} to {high}")
    for name in lane:
        check("--lane", name, LANES)
    if len(query) > MAX_QUERY_CHARS:
        raise QueryTooLong(len(query))
    wanted = frozenset[str]().union(*map(lanes.expand, lane)) or None
    oldest = dates.parse(since, coffer.clock()).timestamp() if since is not None else None
    return limit, wanted, oldest


def _mode(coffer: Coffer, given: str | None, stores: Sequence[Store]) -> tuple[str, str]:
    """The mode asked for, and the one that can answer."""
    asked = str(coffer.setting("default_mode", stores[0] if stores else None)) if given is None else given
    check("--mode", asked, config.MODES)
    return asked, asked if asked in ("grep", "keyword") else "keyword"


def _search(coffer: Coffer, stores: Sequence[Store], query: searching.Query) -> list[tuple[Store, Found, str | None]]:
    from coffer_index import fuse  # noqa: PLC0415 - tantivy: not for an empty query

    answers: list[list[Found]] = []
    heads = []
    for store in stores:
        heads.append(store.head())
        answers.append(_guarded(coffer, store, query))
    fused = fuse([[found.hit for found in answer] for answer in answers], k=FUSION_K, limit=query.limit)
    texts = [{(found.hit.path, found.hit.start): found.text for found in answer} for answer in answers]
    return [
        (stores[number], searching.Found(hit, texts[number][hit.path, hit.start]), heads[number])
        for number, hit in fused
    ]


def _guarded(coffer: Coffer, store: Store, query: searching.Query) -> list[Found]:
    """One store's answer; a store that cannot be searched is left out and named."""
    try:
        return searching.search(coffer, store, query)
    except OSError as error:
        coffer.notice(f"{store.name} cannot be searched ({error.strerror or error})")
        return []


def _hit(store: Store, found: Found, head: str | None, *, explain: bool) -> Hit:
    hit = found.hit
    extra: dict[str, Any] = json.loads(hit.extra) if hit.extra else {}
    return Hit(
        id=hit.id,
        text=secrets.mask(found.text),
        score=round(hit.score, 4),
        source=f"{store.scope}:{secrets.mask(hit.path)}",
        time=documents.iso(hit.time),
        title=secrets.mask(hit.title),
        store=store.name,
        lane=hit.lane,
        commit=head,
        ref=extra.get("ref"),
        count=hit.count if hit.count > 1 else None,
        conflict=extra.get("conflict"),
        explain=_explain(found) if explain else None,
    )


def _explain(found: Found) -> Explanation:
    ranks = tuple(Retriever(name, rank, round(score, 4)) for name, rank, score in found.hit.ranks)
    return Explanation(ranks, found.hit.terms, secrets.mask(found.hit.heading))
