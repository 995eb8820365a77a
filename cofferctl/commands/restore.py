"""restore: a forgotten or changed fact comes back, as a commit of its own; nothing of the history is rewritten."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cofferctl import fact, lanes, past, secrets, ulid
from cofferctl.errors import CofferError, ExitCode
from cofferctl.history.log import History
from cofferctl.inbox import Inbox
from cofferctl.selecting import NoSuchFact
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer
    from cofferctl.past import Trace
    from cofferctl.worktree import Worktree


class NothingBefore(CofferError):
    """The fact never was anything else than it is."""

    code = "MEMORY_NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} has no earlier state", hint="`cofferctl log FACT` shows its history; --from names a commit"
        )


@dataclass(frozen=True, slots=True)
class Restored:
    """The answer; `source` is the commit the text was taken from, `commit` None when nothing had to be changed."""

    id: str
    title: str
    store: str
    scope: str
    path: str
    source: str | None
    commit: str | None
    operation: str
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """What to bring back: a path's bytes, the commit they are from, and a file that goes for it."""

    path: str
    data: bytes
    source: str | None
    replaces: str | None = None


def restore(
    coffer: Coffer, selector: str, *, from_: str | None = None, scope: str | None = None, store: str | None = None
) -> Restored:
    """Bring back what a fact was.

    Args:
        coffer: the memory.
        selector: its id or path, of now or of then.
        from_: a commit or date; default: the last state before its last change.
        scope: where to look.
        store: one store by name instead.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: there never was such a fact.
        NoSuchRevision: there is no such commit.
        NothingBefore: it has no earlier state.
    """
    trace = past.find(coffer.existing(scope, store), selector)
    who, operation = coffer.who(), coffer.new_id()
    history = History(trace.store.directory)

    def plan(work: Worktree) -> Change[Restored]:
        state = _placed(coffer, trace, work, _state(coffer, history, trace, work, from_))
        parsed = fact.parse(state.path, state.data)
        record = who.record("memory_restored", f"restore: {parsed.title}", operation=operation, fact=parsed.id)
        same = trace.store.read(state.path) == state.data and state.replaces is None
        contents = {state.path: state.data} | ({state.replaces: None} if state.replaces else {})
        result = Restored(
            id=parsed.id,
            title=secrets.mask(parsed.title),
            store=trace.store.name,
            scope=trace.store.scope,
            path=state.path,
            source=state.source,
            commit=None,
            operation=operation,
            notices=(),
        )
        return Change({} if same else contents, record, result)

    try:
        receipt = trace.store.write(plan, coffer.author(who))
    finally:
        history.close()
    coffer.written(trace.store)
    return replace(receipt.result, commit=receipt.commit, notices=(*coffer.notices, *receipt.notices))


def _state(coffer: Coffer, history: History, trace: Trace, work: Worktree, from_: str | None) -> _State:
    if from_ is not None:
        return _state_at(history, trace, past.commit_at(history, from_, coffer.clock()), from_)
    if trace.exists and trace.path in work.differs:  # edited since HEAD: that edit is its last change
        committed = work.differs[trace.path]
        if committed is not None:
            return _State(trace.path, history.blob(committed.hex()), history.head())
    for entry, delta in past.entries(history, trace):
        if delta.before is not None:
            return _State(delta.path, history.blob(delta.before), entry.parent)
    raise NothingBefore(trace.path)


def _placed(coffer: Coffer, trace: Trace, work: Worktree, state: _State) -> _State:
    """Where a state goes: into the file that is the fact now; out of superseded/ it comes back to its old place.

    A fact that lives on in another store comes back as a fact of its own: one id names one file.
    """
    parsed = fact.parse(state.path, state.data)
    identifier = parsed.id.encode()
    twins = [path for path, entry in work.entries.items() if entry.id == identifier and path != state.path]
    if twins and lanes.lane_of(twins[0]) != "superseded":
        return replace(state, path=twins[0])
    there = work.entries.get(state.path)
    if there and parsed.has_id and there.id not in (identifier, ulid.derived(state.path).encode()):
        month = f"{parsed.created_at or coffer.clock():%Y-%m}"  # its old name is another fact's now
        state = replace(state, path=Inbox(trace.store.directory).place(parsed.title, parsed.id, month))
    if twins:
        return replace(state, replaces=twins[0])
    others = (other for other in coffer.existing() if other.id != trace.store.id)
    if any(entry.id == identifier for other in others for entry in other.scan().entries.values()):
        return replace(state, data=fact.with_id(state.data, coffer.new_id()))
    return state


def _state_at(history: History, trace: Trace, commit: str | None, given: str) -> _State:
    """The fact in one commit, under the path it had there."""
    paths = dict.fromkeys([trace.path, *(delta.path for _, delta in past.entries(history, trace))])
    for path in paths:
        data = history.content(commit, path) if commit else None
        if data is not None:
            return _State(path, data, commit)
    raise NoSuchFact(f"{trace.path} at {given}")
