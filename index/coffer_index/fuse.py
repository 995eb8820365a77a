"""Reciprocal rank fusion of several stores' answers into one list."""

from __future__ import annotations

from dataclasses import replace

TYPE_CHECKING = False  # spares every cold process the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Sequence

    from coffer_index.model import Hit


def fuse(lists: Sequence[Sequence[Hit]], *, k: int = 60, limit: int) -> list[tuple[int, Hit]]:
    """Merge ranked lists, whose scores cannot be compared, into one by rank.

    A hit at rank r (from 1) of a list is worth 1 / (k + r); a text found in several lists is worth the sum over them
    (Cormack, Clarke, Buettcher: Reciprocal Rank Fusion, SIGIR 2009; k = 60 is theirs). Equal digests are one text: the
    hit of the best rank stands for it, its counts are summed, and it keeps its own score. Equal worth: the list named
    first comes first, then the better rank.

    Returns at most `limit` pairs (index of the list, hit), best first. Raises ValueError when `limit` is below 1.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    worth: dict[str, float] = {}
    counts: dict[str, int] = {}
    best: dict[str, tuple[int, int, Hit]] = {}
    for source, hits in enumerate(lists):
        for rank, hit in enumerate(hits, 1):
            worth[hit.digest] = worth.get(hit.digest, 0.0) + 1 / (k + rank)
            counts[hit.digest] = counts.get(hit.digest, 0) + hit.count
            if hit.digest not in best or (rank, source) < best[hit.digest][:2]:
                best[hit.digest] = (rank, source, hit)
    order = sorted(best, key=lambda digest: (-worth[digest], best[digest][1], best[digest][0]))
    chosen = (best[digest] for digest in order[:limit])
    return [(source, replace(hit, count=counts[hit.digest])) for _, source, hit in chosen]
