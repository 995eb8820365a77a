"""doctor: look at everything, say what is wrong and what mends it; mend what is safe when asked."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from cofferctl import checks, config, secrets, store
from cofferctl.checks.finding import Finding, Patient
from cofferctl.errors import CofferError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cofferctl.coffer import Coffer
    from cofferctl.store import Store

_ORDER = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer; `ok` unless something at level error is left."""

    findings: tuple[Finding, ...]
    ok: bool
    notices: tuple[str, ...]


def doctor(
    coffer: Coffer, *, fix: bool = False, yes: bool = False, scope: str | None = None, store: str | None = None
) -> Diagnosis:
    """Examine the machine and its stores; nothing is changed without `fix`.

    Args:
        coffer: the memory.
        fix: mend what can be mended without losing anything.
        yes: with `fix`, also commit deletions that may be an accident.
        scope: which stores; default all of the machine.
        store: one store by name instead.
    """
    config.check_home(coffer.config.home)
    findings = _machine(coffer, fix=fix)
    for found in _stores(coffer, scope, store):
        findings += _store(coffer, found, fix=fix, yes=yes)
    findings = [_masked(finding) for finding in findings]
    findings.sort(key=lambda finding: (finding.fixed, _ORDER[finding.level]))
    ok = not any(finding.level == "error" and not finding.fixed for finding in findings)
    return Diagnosis(tuple(findings), ok, tuple(coffer.notices))


def _stores(coffer: Coffer, scope: str | None, name: str | None) -> list[Store]:
    if scope is None and name is None:
        return store.existing(coffer.config.home)
    return coffer.existing(scope, name)


def _machine(coffer: Coffer, *, fix: bool) -> list[Finding]:
    def examine() -> list[Finding]:
        if not coffer.config.home.is_dir():
            return []
        return list(_all(None, [partial(check, coffer) for check in _table("HOME")]))

    fixes = {kind: partial(mend, coffer) for kind, mend in _merged("HOME_FIXES").items()}
    return _examined(coffer, examine, fixes if fix else {})


def _store(coffer: Coffer, found: Store, *, fix: bool, yes: bool) -> list[Finding]:
    def examine() -> list[Finding]:
        patient = Patient(coffer, found)
        return list(_all(found.name, [partial(check, patient) for check in _table("STORE")]))

    fixes = {kind: partial(mend, Patient(coffer, found), yes=yes) for kind, mend in _merged("STORE_FIXES").items()}
    return _examined(coffer, examine, fixes if fix else {})


def _examined(
    coffer: Coffer, examine: Callable[[], list[Finding]], fixes: Mapping[str, Callable[[list[Finding]], None]]
) -> list[Finding]:
    """The findings; with fixes, what is left after them, and what they mended."""
    before = examine()
    mended = [kind for kind in fixes if any(found.kind == kind for found in before)]
    for kind in mended:
        try:
            fixes[kind]([found for found in before if found.kind == kind])
        except (CofferError, OSError) as error:
            coffer.notice(f"{kind} could not be mended: {error}")
    if not mended:
        return before
    after = examine()
    left = {_key(found) for found in after}
    return [
        *after,
        *(replace(found, fixed=True) for found in before if found.kind in mended and _key(found) not in left),
    ]


def _key(found: Finding) -> tuple[str, str | None]:
    return found.kind, found.path


def _all(name: str | None, looks: Iterable[Callable[[], Iterator[Finding]]]) -> Iterator[Finding]:
    """The findings of several checks; one that breaks is a finding itself, and stops no other."""
    said: set[str] = set()
    for look in looks:
        try:
            yield from look()
        except Exception as error:  # noqa: BLE001 - whatever a damaged store makes a library raise
            message = f"it cannot be examined whole ({type(error).__name__}: {error})"
            if message not in said:
                said.add(message)
                fix = error.hint if isinstance(error, CofferError) else None
                yield Finding("unexaminable", "error", name, None, message, fix)


@cache
def _modules() -> tuple[Any, ...]:
    names = [module.name for module in pkgutil.iter_modules(checks.__path__)]
    return tuple(importlib.import_module(f"cofferctl.checks.{name}") for name in names)


def _table(name: str) -> list[Any]:
    return [check for module in _modules() for check in getattr(module, name, ())]


def _merged(name: str) -> dict[str, Any]:
    return {kind: mend for module in _modules() for kind, mend in getattr(module, name, {}).items()}


def _masked(found: Finding) -> Finding:
    """A file's name can hold a secret too."""
    with contextlib.suppress(ValueError):
        path, fix = found.path and secrets.mask(found.path), found.fix and secrets.mask(found.fix)
        return replace(found, path=path, message=secrets.mask(found.message), fix=fix)
    return found
