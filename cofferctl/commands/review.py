"""review: a walk over what agents stored lately, one fact at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cofferctl import dates, documents, secrets, state
from cofferctl import lanes as _lanes
from cofferctl.coffer import FileTimes
from cofferctl.commands.forget import forget
from cofferctl.commands.move import move
from cofferctl.commands.recall import recall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cofferctl.coffer import Coffer
    from cofferctl.commands.edit import Edited
    from cofferctl.store import Store

SINCE = "30d"
LANES = _lanes.KNOWLEDGE
SIMILAR = 3
"""Facts alike that are shown beside one."""


@dataclass(frozen=True, slots=True)
class Card:
    """One fact to be looked at."""

    id: str
    title: str
    text: str
    agent: str | None
    session: str | None
    branch: str | None
    created_at: str
    updated_at: str
    store: str
    scope: str
    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class Alike:
    """A fact that may say the same."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class ToReview:
    """What waits, newest first."""

    since: str
    facts: tuple[Card, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of what was shown; `left` still waits."""

    kept: int
    edited: int
    forgotten: int
    moved: int
    skipped: int
    left: int
    notices: tuple[str, ...]


def to_review(coffer: Coffer, *, since: str = SINCE, scope: str | None = None, store: str | None = None) -> ToReview:
    """The facts agents stored or changed since a date that no person has kept as they are now.

    Raises:
        BadDate: `since` is no date.
    """
    begin = dates.parse(since, coffer.clock()).timestamp()
    known = state.reviewed(coffer.config.home)
    found = [card for one in coffer.existing(scope, store) for card in _cards(one, begin, known)]
    found.sort(key=lambda card: (card.updated_at, card.id), reverse=True)
    return ToReview(documents.iso(begin), tuple(found), tuple(coffer.notices))


def _cards(store: Store, begin: float, known: dict[str, str]) -> Iterator[Card]:
    times = FileTimes(store)
    for path, entry in store.scan().entries.items():
        if _lanes.lane_of(path) not in LANES or known.get(entry.id.decode()) == entry.blob.hex():
            continue
        fact = store.fact(path)
        if fact is None or fact.actor != "agent" or (updated := documents.moment(fact, times)) < begin:
            continue
        yield Card(
            id=fact.id,
            title=secrets.mask(fact.title),
            text=secrets.mask(fact.body),
            agent=fact.agent,
            session=fact.session,
            branch=fact.metadata.get("branch"),
            created_at=documents.iso(fact.created_at.timestamp() if fact.created_at else updated),
            updated_at=documents.iso(updated),
            store=store.name,
            scope=store.scope,
            path=path,
            blob=entry.blob.hex(),
        )


@dataclass(slots=True)
class Walk:
    """The walk itself: `card` is the fact to ask about, None at the end; each answer goes on to the next.

    An answer that fails (a fact that is gone, a secret in an edited text) raises and stays where it is.
    """

    coffer: Coffer
    cards: list[Card]
    at: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def card(self) -> Card | None:
        """The fact to be asked about."""
        return self.cards[self.at] if self.at < len(self.cards) else None

    def similar(self) -> tuple[Alike, ...]:
        """Facts that may say the same as the present one."""
        if self.card is None:
            return ()
        hits = recall(self.coffer, self.card.title, top_k=SIMILAR + 1).hits
        return tuple(Alike(hit.id, hit.title) for hit in hits if hit.id != self.card.id)[:SIMILAR]

    def keep(self) -> None:
        """It is right as it is, and does not come up again until it is edited."""
        if self.card is not None:
            state.mark_reviewed(self.coffer.config.home, self.card.id, self.card.blob)
            self._on("kept")

    def edited(self, result: Edited) -> None:
        """A person has edited it, and thereby looked at it; one that was left as it was is asked about again."""
        card = self.card
        if card is None or not result.changed:
            return
        entry = next(
            (one for found in self._stores(card) if (one := found.scan().entries.get(result.path)) is not None), None
        )
        if entry is not None:
            state.mark_reviewed(self.coffer.config.home, result.id, entry.blob.hex())
        self._on("edited")

    def forget(self) -> None:
        """It goes."""
        if self.card is not None:
            forget(self.coffer, [self.card.path], store=self.card.store)
            self._on("forgotten")

    def move(self) -> None:
        """It holds everywhere: it goes to the global store, as looked at."""
        if self.card is not None:
            moved = move(self.coffer, self.card.path, "global", store=self.card.store)
            state.mark_reviewed(self.coffer.config.home, moved.id, self.card.blob)
            self._on("moved")

    def next(self) -> None:
        """It waits."""
        self._on("skipped")

    def result(self) -> Reviewed:
        """What was done so far."""
        names = ("kept", "edited", "forgotten", "moved", "skipped")
        counts = {name: self.counts.get(name, 0) for name in names}
        return Reviewed(**counts, left=len(self.cards) - self.at, notices=())

    def _stores(self, card: Card) -> list[Store]:
        return self.coffer.existing(None, card.store)

    def _on(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
        self.at += 1
