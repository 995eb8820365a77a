"""A fact's commits in every store it was in: a move has two sides, one in each store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from cofferctl import fact, past
from cofferctl import store as stores
from cofferctl.history.log import History
from cofferctl.past import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    from cofferctl.history.log import Delta, Entry
    from cofferctl.store import Store

SPAN_SECONDS = 86_400
"""The commits of one operation lie this close together at most."""


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of a fact's past: the store it is in, and what it did to the fact's files there."""

    store: Store
    entry: Entry
    deltas: tuple[Delta, ...]


class Lineage:
    """Follows facts; a context manager that keeps the stores' histories open while their entries are used."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._open: dict[str, History] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for history in self._open.values():
            history.close()

    def history(self, of: Store) -> History:
        """A store's history."""
        if of.id not in self._open:
            self._open[of.id] = History(of.directory)
        return self._open[of.id]

    def steps(self, trace: Trace) -> list[Step]:
        """The commits that touched a fact, wherever it was: newest first."""
        found: list[Step] = []
        waiting = [trace, *self._renamed(trace)]
        seen = {(one.store.id, one.path) for one in waiting}
        known: set[tuple[str, str]] = set()
        for following in waiting:
            for step in self.within(following):
                if (step.store.id, step.entry.commit) in known:
                    continue
                known.add((step.store.id, step.entry.commit))
                found.append(step)
                for other in self._other_side(step, trace.id):
                    if (other.store.id, other.path) not in seen:
                        seen.add((other.store.id, other.path))
                        waiting.append(other)
        return sorted(found, key=_moment, reverse=True) if len(waiting) > 1 else found

    def within(self, trace: Trace) -> Iterator[Step]:
        """The commits that touched a fact in its store, newest first."""
        step: Step | None = None
        for entry, delta in past.entries(self.history(trace.store), trace):
            if step and step.entry is entry:
                step = Step(step.store, entry, (*step.deltas, delta))
                continue
            if step:
                yield step
            step = Step(trace.store, entry, (delta,))
        if step:
            yield step

    def _renamed(self, trace: Trace) -> Iterator[Trace]:
        """Where a file was that somebody renamed and that no commit has yet."""
        work = trace.store.scan()
        if not trace.exists or work.differs.get(trace.path, b"") is not None:
            return
        for path, blob in work.differs.items():
            gone = self.history(trace.store).blob(blob.hex()) if blob and path not in work.entries else None
            if gone is not None and fact.parse(path, gone).id == trace.id:
                yield Trace(trace.store, path, trace.id, exists=False)

    def _other_side(self, step: Step, identifier: str) -> Iterator[Trace]:
        record = step.entry.record
        if record.event != "memory_moved" or not record.operation:
            return
        arrived = any(delta.before is None for delta in step.deltas)
        for other in stores.existing(self._home):
            if other.id == step.store.id:
                continue
            for entry in self._of_operation(other, step.entry):
                for delta in entry.deltas:
                    if (delta.after if arrived else delta.before) is None:
                        yield Trace(other, delta.path, identifier, exists=False)

    def _of_operation(self, other: Store, like: Entry) -> Iterator[Entry]:
        for entry in self.history(other).entries():
            if entry.time < like.time - SPAN_SECONDS:
                return
            if entry.record.operation == like.record.operation:
                yield entry


def _moment(step: Step) -> tuple[int, str]:
    """When it was: the second, and of operations of one second, whose ids begin with their milliseconds, the later."""
    return step.entry.time, (step.entry.record.operation or "")[:_MILLISECONDS]


_MILLISECONDS = 10
