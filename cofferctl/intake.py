"""What may become a fact: texts are checked, titled and described before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import fact, head, secrets
from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

TITLE_LENGTH = 80
DESCRIPTION_LENGTH = 160


class Rejected(CofferError):
    """A text cannot be remembered. `details.reason` is empty, too_long, secret or binary."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, reason: str, message: str, hint: str, **details: object) -> None:
        super().__init__(message, hint=hint, details={"reason": reason, **details})


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact about to be written.

    Attributes:
        text: its body, with LF line ends and no final newline.
        title: one line.
        description: one line.
        actor: user or agent.
        agent: the agent program.
        session: the agent's session.
        created_at: when it was learnt.
        metadata: further keys of its head.
        updated_at: when it was last changed, if not when it was learnt.
    """

    text: str
    title: str
    description: str
    actor: str
    agent: str | None
    session: str | None
    created_at: datetime
    metadata: Mapping[str, str]
    updated_at: datetime | None = None

    def render(self, identifier: str) -> bytes:
        """The fact's file."""
        return fact.render(
            id=identifier,
            title=self.title,
            description=self.description,
            actor=self.actor,
            agent=self.agent,
            session=self.session,
            created_at=self.created_at,
            updated_at=self.updated_at or self.created_at,
            metadata=self.metadata,
            body=self.text,
        )


def clean(text: str) -> str:
    """A text as it will read back: LF line ends, no lone surrogates (bytes of another encoding), no final newline."""
    return _valid(text).replace("\r\n", "\n").removesuffix("\n")


def check(text: str, limit: int) -> None:
    """Refuse what is no fact.

    Raises:
        Rejected: empty, longer than `limit` characters, or not text.
    """
    if not text.strip():
        raise Rejected("empty", "there is nothing to remember", "give some text, or - to read standard input")
    if len(text) > limit:
        raise Rejected(
            "too_long",
            f"the text has {len(text):,} characters, {limit:,} are allowed",
            "remember one fact at a time, or raise max_fact_chars",
            length=len(text),
            limit=limit,
        )
    if "\0" in text:
        raise Rejected("binary", "the text holds NUL characters", "remember text, not the content of a binary file")


def check_secret(*texts: str) -> None:
    """Refuse what looks like a secret: git never forgets.

    Raises:
        Rejected: with the kind and the span, never the secret itself.
    """
    for text in texts:
        for found in secrets.find(text):
            raise Rejected(
                "secret",
                f"the text seems to hold a secret ({found.kind}, characters {found.start} to {found.end})",
                "say where the secret is kept instead; --allow-secret stores it all the same, for ever",
                kind=found.kind,
                span=[found.start, found.end],
            )


def title_of(text: str, given: str | None = None) -> str:
    """A fact's title: the given one, else its first sentence."""
    if given is not None and given.strip():
        return _valid(given)
    return fact.first_sentence(text, TITLE_LENGTH) or _one_line(text, TITLE_LENGTH)


def description_of(text: str, given: str | None = None) -> str:
    """A fact's description: the given one, else its beginning in one line."""
    if given is not None:
        return _valid(given)
    return _one_line(text, DESCRIPTION_LENGTH)


def _valid(text: str) -> str:
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # halves of a pair, as JSON can hold them
        return head.clean(text)


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
