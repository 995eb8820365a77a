"""blame: who taught each line of a fact, and when."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from cofferctl import documents, fact, patches, selecting
from cofferctl.lineage import Lineage
from cofferctl.past import Trace
from cofferctl.selecting import NoSuchFact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cofferctl.coffer import Coffer
    from cofferctl.history.log import Delta
    from cofferctl.lineage import Step


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and the commit it came with; `commit` and `time` are None for what no commit has yet."""

    text: str
    commit: str | None
    time: str | None
    actor: str
    agent: str | None
    session: str | None


@dataclass(frozen=True, slots=True)
class Blamed:
    """The answer: a whole file as it is now."""

    id: str
    title: str
    store: str
    path: str
    lines: tuple[Line, ...]
    notices: tuple[str, ...]


_Owned = list[tuple[str, "Step | None"]]
"""Lines, each with the step that brought it; None: nobody yet."""


def blame(coffer: Coffer, selector: str, *, scope: str | None = None, store: str | None = None) -> Blamed:
    """Every line of a fact's file with the commit that brought it.

    A line that a superseded or moved fact had already keeps its commit, and so does what `restore` brought back.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: no such fact.
    """
    selected = selecting.select(coffer.existing(scope, store), selector)
    data = selected.store.read(selected.fact.path)
    if data is None:
        raise NoSuchFact(selector)
    trace = Trace(selected.store, selected.fact.path, selected.fact.id, exists=True)
    with Lineage(coffer.config.home) as lineage:
        committed = _committed(lineage, lineage.steps(trace), trace)
    now = fact.normalize(data)
    owned = _assign(_lines(now), [committed], None)
    texts = patches.lines(fact.decode(now))
    lines = tuple(_line(text, step) for text, (_, step) in zip(texts, owned, strict=False))
    parsed = fact.parse(trace.path, data)
    title = patches.lines(parsed.title)[0]
    return Blamed(parsed.id, title, trace.store.name, trace.path, lines, tuple(coffer.notices))


def _committed(lineage: Lineage, steps: Sequence[Step], trace: Trace) -> _Owned:
    """The lines of the fact's last commit."""
    known: dict[str, _Owned] = {}
    last: _Owned = []
    final: str | None = None
    for step in reversed(steps):
        for delta in sorted(step.deltas, key=lambda delta: delta.after is not None):  # what left, then what arrived
            if delta.after is None:
                last = known.get(delta.before or "", last)
                continue
            if not (step.entry.record.event == "memory_restored" and delta.after in known):
                lines = _lines(lineage.history(step.store).blob(delta.after))
                known[delta.after] = _assign(lines, _bases(lineage, step, delta, known, last), step)
            last = known[delta.after]
            if step.store.id == trace.store.id:
                final = delta.after
    return known.get(final or "", last)


def _bases(lineage: Lineage, step: Step, delta: Delta, known: dict[str, _Owned], last: _Owned) -> list[_Owned]:
    """What the lines can have come from: the file in each parent, else what the fact was before it came here."""
    found = [known[delta.before]] if delta.before in known else []
    for parent in step.entry.parents[1:]:
        blob = lineage.history(step.store).blob_id(parent, delta.path)
        found += [known[blob]] if blob in known else []
    return found or [last]


def _assign(lines: list[str], bases: Sequence[_Owned], step: Step | None) -> _Owned:
    owned: _Owned = [(line, step) for line in lines]
    for base in bases:
        before = [line for line, _ in base]
        for block in SequenceMatcher(None, before, lines, autojunk=False).get_matching_blocks():
            for offset in range(block.size):
                if owned[block.b + offset][1] is step:
                    owned[block.b + offset] = base[block.a + offset]
    return owned


def _lines(data: bytes) -> list[str]:
    text = fact.decode(data)
    return text.removesuffix("\n").split("\n") if text else []


def _line(text: str, step: Step | None) -> Line:
    if step is None:
        return Line(text, None, None, "outside", None, None)
    record = step.entry.record
    time = documents.iso(step.entry.time)
    return Line(text, step.entry.commit, time, record.actor, record.agent, record.session)
