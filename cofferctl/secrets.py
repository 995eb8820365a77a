"""What looks like a secret in a text: where it stands, what it is, and the same text with it masked.

Hand-written rather than detect-secrets: that takes longer to start than a whole `remember`, reads files line by line
through plugins, and gives no spans, which masking and "rephrase this part" need. Every pattern is linear: it either
begins only where its own run of characters begins, or has a bounded reach.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator  # noqa: TC003 - the table below is built with them
from dataclasses import dataclass

_MIN_VALUE = 8  # shorter passwords cannot be told from words
_MIN_HEX = 32
_MIN_ENTROPY = 2.5  # bits a character


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret-like piece of a text: text[start:end]."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    """How to find one kind: needles (lower case) of which one must be there, a pattern, a test of what it found.

    No needle: a long run of token characters must be there. The pattern's group that took part, if any, is the secret.
    Patterns are compiled on first need: all of them would cost each start 6 ms.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: str
    accept: Callable[[str], bool] | None = None


_UUID_ULID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25}")
_REFERENCE = re.compile(
    r"[$<{%*.~/\\@]|[A-Za-z][A-Za-z0-9+.-]*+://|\d{4}-\d\d-\d\d|sha(?:1|256|384|512)[:-]|md5:"
    r"|(?:env|vault|file|ref|op|keyring|secret|arn|urn|id|uuid|commit|process\.env|os\.environ)[:.]",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[/._\-:@#?&=+,|\\]+")
_WORD = re.compile(r"[A-Za-z]*\d{0,4}[A-Za-z]{0,4}|\d+|[0-9a-f]{7,12}|[^\x00-\x7f]+")
_HEX = re.compile(r"[0-9a-fA-F]+")
_DUMMY = frozenset(
    {
        "pass",
        "password",
        "passwd",
        "pwd",
        "secret",
        "token",
        "user",
        "username",
        "root",
        "admin",
        "guest",
        "test",
        "postgres",
        "example",
        "changeme",
        "redacted",
        "masked",
        "hidden",
        "dummy",
        "foo",
        "bar",
        "xxx",
        "mysql",
        "redis",
    }
)


def _wordy(value: str) -> bool:
    """Whether a value is made of words, numbers and separators, as names, paths, versions and hosts are."""
    return all(_WORD.fullmatch(piece) for piece in _SEPARATORS.split(value))


def _token_like(value: str) -> bool:
    """For what already has a telling prefix: more than words."""
    return not _wordy(value)


def _password_like(value: str) -> bool:
    """For what is merely assigned to a telling name: letters and digits, mixed, varied, and no reference."""
    if len(value) < _MIN_VALUE or _UUID_ULID.fullmatch(value) or _REFERENCE.match(value):
        return False
    if _HEX.fullmatch(value) and len(value) >= _MIN_HEX:
        return True
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and not _wordy(value) and _entropy(value) >= _MIN_ENTROPY


def _entropy(value: str) -> float:
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _url_password(value: str) -> bool:
    return value.lower() not in _DUMMY and not re.match(r"[$<{%*\[]|[*x.]+\Z", value)


def _key_block(value: str) -> bool:
    """A BEGIN line alone is talk about keys."""
    return re.search(r"[A-Za-z0-9+/]{24}", value) is not None


def _rule(kind: str, needles: str, pattern: str, accept: Callable[[str], bool] | None = None) -> _Rule:
    return _Rule(kind, tuple(needles.split()), pattern, accept)


def _prefixed(kind: str, needles: str, pattern: str, accept: Callable[[str], bool] | None = None) -> _Rule:
    """A secret that announces itself; nothing of a longer word before it."""
    return _rule(kind, needles, f"(?<![A-Za-z0-9]){pattern}", accept)


_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END [A-Z0-9 ]{0,60}-----"
    # Cut off: as far as it looks like key lines, PEM headers and line ends (also written `\n`).
    r"|(?:\s|\\[nr]|[A-Z][A-Za-z-]{2,20}: [^\n]{1,80}\n|[A-Za-z0-9+/=]{12,}+)*+(?:[A-Za-z0-9+/]{1,11}={0,2}(?!\S))?)"
)
_NAMES = (
    r"(?i:passwords?|passwd|passphrase|pwd|secrets?|tokens?|api[_ -]?keys?|credentials?"
    r"|(?:access|private|auth|account|signing|encryption|shared|service|master|client)[_ -]?(?:access[_ -]?)?keys?)"
)
_EQUALS = r"\s{0,3}(?::=|=>|==?|:|(?<=\s)is(?=\s))\s{0,3}"
_ANY_VALUE = r"(?:\"([^\"\s]{8,}+)\"|'([^'\s]{8,}+)'|`([^`\s]{8,}+)`|([^\s\"'`,;<>(){}\[\]]{8,}+)(?![(\[]))"
_AWS_VALUE = r"[\"'`]?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
_JWT_PART = r"[A-Za-z0-9_-]{8,}+"

# First come the more telling: where two overlap, the first names the kind.
_RULES = (
    _rule("private key", "private", _PEM, _key_block),
    _rule("age secret key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Za-z]{40,}+"),
    _prefixed("GitHub token", "ghp_ gho_ ghs_ ghu_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}+"),
    _prefixed("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}+"),
    _prefixed(
        "GitLab token",
        "glpat- gldt- glrt- glptt- glcbt- glft- glsoat-",
        r"gl(?:pat|dt|rt|ptt|cbt|ft|soat)-[A-Za-z0-9_.-]{19,}[A-Za-z0-9_-]",
        _token_like,
    ),
    _prefixed("Slack token", "xox xapp-", r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,}+", _token_like),
    _rule(
        "Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/]{24,}+)",
        _token_like,
    ),
    _prefixed("Stripe key", "k_live_ k_test_ whsec_", r"(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}+"),
    _prefixed("Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}+", _token_like),
    _prefixed("OpenAI key", "sk-", r"sk-[A-Za-z0-9_-]{20,}+", _token_like),
    _prefixed("AWS access key id", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _rule(
        "AWS secret access key",
        "secret",
        r"(?i:secret[_ -]?(?:access[_ -]?)?key)[\"'`]{0,2}" + _EQUALS + _AWS_VALUE,
        _password_like,
    ),
    _prefixed("Google API key", "aiza", r"AIza[A-Za-z0-9_-]{30,}+"),
    _prefixed("Google OAuth secret", "gocspx- ya29.", r"(?:GOCSPX-|ya29\.)[A-Za-z0-9_-]{20,}+"),
    _prefixed("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    _prefixed("PyPI token", "pypi-", r"pypi-[A-Za-z0-9_-]{32,}+", _token_like),
    _prefixed("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}+"),
    _prefixed("SendGrid key", "sg.", r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    _prefixed("Twilio key", "", r"(?:AC|SK)[0-9a-f]{32}(?![A-Za-z0-9])"),
    _prefixed("Telegram bot token", ":aa", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{31,}+"),
    _rule(
        "Discord bot token",
        "",
        r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
        _token_like,
    ),
    _rule("Azure client secret", "q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    _rule("Azure shared access signature", "sig=", r"[?&]sig=([A-Za-z0-9%+/=]{40,}+)"),
    _prefixed(
        "access token",
        "dop_v1_ shpat_ shpss_ hvs. lin_api_ dckr_pat_ sbp_ gsk_ r8_ xai- pplx- pmak- glsa_ nrak- sntrys_ dapi",
        r"(?:dop_v1_|shp(?:at|ss)_|hvs\.|lin_api_|dckr_pat_|sbp_|gsk_|r8_|xai-|pplx-|PMAK-|glsa_|NRAK-|sntrys_|dapi)"
        r"[A-Za-z0-9_-]{20,}+",
        _token_like,
    ),
    _rule("JSON web token", "eyj", rf"(?<![A-Za-z0-9_-])eyJ{_JWT_PART}\.{_JWT_PART}\.{_JWT_PART}"),
    _rule(
        "authorization header",
        "bearer authorization",
        r"(?i:bearer|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token))\s{1,3}([A-Za-z0-9._~+/-]{16,}+=*+)",
        _token_like,
    ),
    _rule(
        "password in a URL",
        "://",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/@:\"'<>]{0,64}:([^\s/\"'<>]{3,256})@",
        _url_password,
    ),
    # The name may go on (`_key`, `_id`), and be quoted itself.
    _rule(
        "password or key",
        "pass pwd secret token key credential",
        _NAMES + r"[A-Za-z0-9_-]{0,30}+[\"'`\])]{0,3}" + _EQUALS + _ANY_VALUE,
        _password_like,
    ),
    _rule(
        "password or key", "--", r"(?<![\w-])--(?:[a-z]{1,12}-){0,2}" + _NAMES + r"\s{1,3}" + _ANY_VALUE, _password_like
    ),
)

_BY_NEEDLE = [(needle, rule) for rule in _RULES for needle in rule.needles]
_ANY_TEXT = [rule for rule in _RULES if not rule.needles]
_LONG_RUN = re.compile(r"[A-Za-z0-9_-]{23}")


def find(text: str) -> list[Secret]:
    """All secret-like pieces of a text, in order, not overlapping; where two overlap, one covers both."""
    found: list[Secret] = []
    for secret in sorted(_matches(text), key=lambda secret: secret.start):
        last = found[-1] if found else None
        if last is None or secret.start >= last.end:
            found.append(secret)
        elif secret.end > last.end:
            found[-1] = Secret(last.kind, last.start, secret.end)
    return found


def _matches(text: str) -> Iterator[Secret]:
    lowered = text.lower()
    hits = [rule for needle, rule in _BY_NEEDLE if needle in lowered]
    if _LONG_RUN.search(text):
        hits += _ANY_TEXT
    for rule in dict.fromkeys(hits):
        for match in re.finditer(rule.pattern, text):
            start, end = match.span(match.lastindex or 0)
            end = start + len(text[start:end].rstrip(".:")) if match.lastindex else end
            if rule.accept is None or rule.accept(text[start:end]):
                yield Secret(rule.kind, start, end)


def mask(text: str) -> str:
    """The text with `[masked: <kind>]` in place of each secret; the same text when it holds none."""
    parts: list[str] = []
    done = 0
    for secret in find(text):
        parts += text[done : secret.start], f"[masked: {secret.kind}]"
        done = secret.end
    return "".join([*parts, text[done:]]) if parts else text


def kind_sentence(secrets: list[Secret]) -> str:
    """One sentence that names kinds and places, never the secret: for a refusal that an agent can act on."""
    named = [f"{_article(s.kind)} {s.kind} (characters {s.start} to {s.end})" for s in secrets]
    listed = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    return f"This looks like {listed or 'no secret'}."


def _article(kind: str) -> str:
    return "an" if kind[0] in "aeiouAEIO" or kind.startswith("npm") else "a"
