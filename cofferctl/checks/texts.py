"""What stands in the facts: heads nobody can read, merge markers, odd bytes, secrets, orders to a reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cofferctl import fact, secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cofferctl.checks.finding import Finding, Patient
    from cofferctl.fact import Fact

_ALL = r"(?:(?:all|any|the|your|these|those|my|of)\s+){0,3}"
_EARLIER = r"(?:previous|prior|earlier|above|preceding|foregoing)"
_ORDERS = r"(?:instructions?|rules?|prompts?|directions?|directives?|guidelines?)"
_PHRASES = (
    rf"\b(?:ignore|disregard|forget|override)\s+{_ALL}{_EARLIER}\s+{_ORDERS}\b",
    rf"\b(?:ignore|disregard|override)\s+{_ALL}system\s+(?:prompt|message)\b",
    r"\b(?:reveal|print|repeat|show)\s+(?:me\s+)?your\s+(?:system\s+prompt|hidden\s+instructions)\b",
    r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|warn)\s+the\s+user\s+(?:about|of|that)\s+this\b",
    r"\byou\s+are\s+now\s+in\s+(?:developer|jailbreak|god|dan)\s+mode\b",
    r"^\s*system\s*:\s*(?:from\s+now\s+on|you\s+(?:are|must)|ignore|disregard)\b",
    r"忽略(?:以上|之前|先前|前面|上述)(?:的)?(?:所有|全部|一切)?(?:的)?(?:指令|指示|规则|提示)",
)
"""Few and plain on purpose: a fact that talks about such sentences is only pointed at, nothing is done to it."""


def texts(patient: Patient) -> Iterator[Finding]:
    """Everything that is wrong inside files, each of which is read once."""
    phrases = re.compile("|".join(_PHRASES), re.IGNORECASE | re.MULTILINE)
    for path in sorted(patient.work.entries):
        try:
            data = patient.store.read(path)
        except OSError:
            continue
        if data is not None:
            parsed = fact.parse(path, data)
            text = fact.decode(data)
            yield from _form(patient, parsed)
            yield from _secrets(patient, path, text)
            if phrases.search(text):
                message = f"{path} holds a sentence that orders its reader about; it is shown as a note, never obeyed"
                yield patient.finding("instruction", "warning", message, path, patient.command("show", path))


STORE = (texts,)


def _form(patient: Patient, parsed: Fact) -> Iterator[Finding]:
    path = parsed.path
    if not parsed.head_ok:
        message = f"{path} begins with a head that cannot be read; all of it counts as text, and it is never rewritten"
        yield patient.finding("head", "warning", message, path, patient.command("edit", path))
    if parsed.conflict:
        message = f"{path} holds merge markers; both sides are found"
        yield patient.finding("conflict", "warning", message, path, patient.command("edit", path))
    if parsed.replaced:
        message = f"{path} is not UTF-8; some of its characters are not found"
        yield patient.finding("not_utf8", "warning", message, path, "save it as UTF-8")


def _secrets(patient: Patient, path: str, text: str) -> Iterator[Finding]:
    kinds = sorted({found.kind for found in secrets.find(text)})
    if kinds:
        message = f"{path} seems to hold a secret ({', '.join(kinds)}); it is masked, but git keeps it"
        fix = f"change the secret where it is used, then: {patient.command('edit', path)}"
        yield patient.finding("secret", "warning", message, path, fix)
