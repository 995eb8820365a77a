"""edit: change a fact's text, title or description, and nothing else in its file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cofferctl import fact, intake, secrets, selecting, worktree
from cofferctl.errors import CofferError, ExitCode
from cofferctl.selecting import NoSuchFact
from cofferctl.transaction import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from cofferctl.coffer import Coffer
    from cofferctl.selecting import Selected
    from cofferctl.store import Store
    from cofferctl.worktree import Worktree


class Unexpected(CofferError):
    """The fact is not what the caller took it for."""

    code = "STORE_CONFLICT"
    exit_code = ExitCode.CONFLICT

    def __init__(self, path: str, since: str) -> None:
        super().__init__(
            f"{path} has changed since {since}; nothing was written",
            hint="`cofferctl show` gives its present text",
            details={"path": path},
        )


class InConflict(CofferError):
    """The file holds merge markers; only a whole new text may replace them."""

    code = "STORE_CONFLICT"
    exit_code = ExitCode.CONFLICT

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} holds merge markers", hint="edit the file and choose, or give the whole text anew")


@dataclass(frozen=True, slots=True)
class Edited:
    """The answer; `commit` is None when nothing had to be changed."""

    id: str
    store: str
    scope: str
    path: str
    commit: str | None
    title: str
    changed: bool
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact's file for an editor: the bytes it holds, and their blob id to tell whether it changed meanwhile."""

    selected: Selected
    content: bytes
    blob: bytes


def edit(
    coffer: Coffer,
    selector: str,
    *,
    text: str | None = None,
    title: str | None = None,
    description: str | None = None,
    expect: str | None = None,
    scope: str | None = None,
    store: str | None = None,
    allow_secret: bool = False,
) -> Edited:
    """Change what is given; unknown keys, comments, order and quoting of the head stay as they are.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: no such fact.
        Rejected: the new text is empty, too long, or holds a secret.
        Unexpected: its file differs from the one in `expect`.
        HeadUnreadable: its head cannot be edited safely.
        InConflict: it holds merge markers and no new text is given.
    """
    selected = selecting.select(coffer.existing(scope, store), selector)
    body = None if text is None else intake.clean(text)
    if body is not None:
        intake.check(body, coffer.max_fact_chars(selected.store))
    if not allow_secret:
        intake.check_secret(body or "", title or "", description or "")
    now = coffer.clock()
    expected = None if expect is None else selected.store.content(expect, selected.fact.path)

    def changed(path: str, data: bytes) -> bytes:
        if expect is not None and expected != fact.normalize(data):
            raise Unexpected(path, expect)
        parsed = fact.parse(path, data)
        if parsed.conflict and body is None:
            raise InConflict(path)
        new_title, new_description = _derived(parsed, body, title, description)
        new = fact.edit(
            data,
            body=None if body == parsed.body else body,
            title=None if new_title == parsed.title else new_title,
            description=None if new_description == parsed.description else new_description,
        )
        return new if new == data else fact.edit(new, updated_at=now)

    return _write(coffer, selected, changed)


def _derived(
    old: fact.Fact, body: str | None, title: str | None, description: str | None
) -> tuple[str | None, str | None]:
    """A title or description that was made from the old text is made anew from the new one."""
    if body is None or not old.head_ok:
        return title, description
    if title is None and old.title == intake.title_of(old.body):
        title = intake.title_of(body)
    if description is None and old.description and old.description == intake.description_of(old.body):
        description = intake.description_of(body)
    return title, description


def draft(coffer: Coffer, selector: str, *, scope: str | None = None, store: str | None = None) -> Draft:
    """A fact's whole file, to be edited by a person.

    Raises:
        NoSuchFact, Ambiguous, PathRefused: no such fact.
    """
    selected = selecting.select(coffer.existing(scope, store), selector)
    data = selected.store.read(selected.fact.path)
    if data is None:
        raise NoSuchFact(selector)
    return Draft(selected, data, worktree.blob_id(fact.normalize(data)))


def edit_file(coffer: Coffer, before: Draft, content: bytes, *, allow_secret: bool = False) -> Edited:
    """Put the file that a person edited in the place of the one they were given.

    Raises:
        Rejected: the new text is empty, too long, or holds a secret the old one did not.
        Unexpected: the file was changed meanwhile.
    """
    path = before.selected.fact.path
    new, old = fact.parse(path, content), fact.parse(path, before.content)
    intake.check(new.body, coffer.max_fact_chars(before.selected.store))
    if not allow_secret and len(secrets.find(fact.decode(content))) > len(secrets.find(fact.decode(before.content))):
        intake.check_secret(fact.decode(content))
    if content != before.content and new.head_ok and new.updated_at and new.updated_at == old.updated_at:
        content = fact.edit(content, updated_at=coffer.clock())

    def changed(found: str, data: bytes) -> bytes:
        if worktree.blob_id(fact.normalize(data)) != before.blob:
            raise Unexpected(found, "you began to edit it")
        return content

    return _write(coffer, before.selected, changed)


def _write(coffer: Coffer, selected: Selected, changed: Callable[[str, bytes], bytes]) -> Edited:
    target, who = selected.store, coffer.who()
    operation = coffer.new_id()

    def plan(work: Worktree) -> Change[Edited]:
        path = selecting.path_of(work, selected)
        data = target.read(path)
        if data is None:
            raise NoSuchFact(path)
        new = fact.normalize(changed(path, data))
        parsed = fact.parse(path, new)
        record = who.record("memory_updated", f"edit: {parsed.title}", operation=operation, fact=parsed.id)
        result = _result(target, path, parsed.id, parsed.title, differs=new != fact.normalize(data))
        return Change({path: new} if result.changed else {}, record, result)

    receipt = target.write(plan, coffer.author(who))
    coffer.written(target)
    return replace(receipt.result, commit=receipt.commit, notices=(*coffer.notices, *receipt.notices))


def _result(target: Store, path: str, identifier: str, title: str, *, differs: bool) -> Edited:
    return Edited(identifier, target.name, target.scope, path, None, secrets.mask(title), differs, ())
