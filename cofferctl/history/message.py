"""Commit messages as audit records: a subject, and trailers that say what happened and who did it."""

from __future__ import annotations

from dataclasses import dataclass

SUBJECT_LENGTH = 120
EVENTS = (
    "memory_added",
    "memory_updated",
    "memory_deleted",
    "memory_superseded",
    "memory_moved",
    "memory_cleared",
    "memory_restored",
    "memory_organized",
    "memory_reorganized",
    "memory_stores_merged",
    "memory_imported",
    "rule_appended",
    "rule_accepted",
    "journal_append",
    "handoff_set",
    "outside_edit",
    "synced",
    "purged",
)
"""Everything that can happen to a store."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a commit says of itself.

    Attributes:
        subject: one line for people.
        event: one of `EVENTS`.
        actor: user, agent or outside.
        fact: the id of the one fact concerned, None for several or none.
        agent: the agent program's name.
        session: the agent's session id.
        operation: what binds the commits of one command together.
    """

    subject: str
    event: str
    actor: str
    fact: str | None = None
    agent: str | None = None
    session: str | None = None
    operation: str | None = None


_FIELDS = {
    "Event": "event",
    "Id": "fact",
    "Actor": "actor",
    "Agent": "agent",
    "Session": "session",
    "Operation": "operation",
}
_READ = {f"Coffer-{trailer}": name for trailer, name in _FIELDS.items()}


def one_line(text: str, limit: int = SUBJECT_LENGTH) -> str:
    """Text without line breaks and control characters, cut to a length."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def render(record: Record) -> str:
    """The message of a commit."""
    lines = [one_line(record.subject), ""]
    for trailer, name in _FIELDS.items():
        value = getattr(record, name)
        if value:
            lines.append(f"Coffer-{trailer}: {one_line(value, 200)}")
    return "\n".join(lines) + "\n"


def parse(message: str) -> Record:
    """Read a message back; one without our trailers is an outside edit."""
    subject, _, rest = message.partition("\n")
    last = rest.strip().rpartition("\n\n")[2]
    found: dict[str, str] = {}
    for line in last.splitlines():
        key, _, value = line.partition(": ")
        if key in _READ:
            found[_READ[key]] = value
    if found.get("event") not in EVENTS:
        return Record(subject, "outside_edit", "outside")
    return Record(subject, **{"actor": "outside", **found})
