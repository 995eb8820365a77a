"""Text to tokens: CJK n-grams, word parts, whole identifiers and dates; the query's side of the same rules."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

# Scripts written without spaces between words: Thai, Lao, Myanmar, Hangul, Khmer, Han and Kana, as ranges.
_DENSE = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1100", "\u11ff"),
    ("\u1780", "\u17ff"),
    ("\u2e80", "\u2fdf"),
    ("\u3005", "\u3007"),
    ("\u3040", "\u30ff"),
    ("\u3130", "\u318f"),
    ("\u31f0", "\u31ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\ua960", "\ua97f"),
    ("\uac00", "\ud7ff"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
# What never belongs to an identifier: white space, controls, brackets, quotes; general and CJK punctuation.
_BREAK = "\\s\\x00-\\x1f\\x7f,;()\\[\\]{}\"'=<>|`"
_WIDE_BREAK = "\u00ab\u00bb\u2010-\u206f\u3000-\u3004\u3008-\u303f\ufe00-\ufe0f"
_ASCII_CHUNK = re.compile(f"[^{_BREAK}]+")
# Runs of letters, digits and the marks that combine with them (Indic vowel signs are not \w for `re`).
_PART = re.compile("(?:[^\\W_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff])+")
_PIECE = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")

# The longest token kept whole: longer ones are hashes or data that nobody types.
_LONGEST = 80
_CACHE_LIMIT = 50_000
_LONGEST_QUERY = 10_000  # characters


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = _set(
    "a about above after again all also am an and any are as at be because been before being below between both but "
    "by can could d did didn do does doesn doing don during each few for from further get gets got had has have having "
    "he her here hers him his how i if in into is isn it its itself just let ll m me might more most must my no nor "
    "not of off on once only or other our out over own re s same shall she should so some such t than that the their "
    "them then there these they this those through to too under until up us ve very was we were what when where which "
    "while who whom whose why will with would you your yours"
)
# The same for scripts without spaces: question words and grammar, as the n-grams they leave behind.
_DENSE_STOP = _set(
    "什么 甚么 怎么 怎样 怎么样 哪里 哪个 哪些 哪儿 多少 如何 为什 为什么 是什 是什么 么时 什么时 么样 的是 "
    "了吗 是否 有没 没有 有没有 我们 你们 他们 是谁 谁的 在哪 在哪里 几个 多久 "
    "です ます ですか ますか すか した ました ませ ません どこ いつ なに 何を 何が は何 どう どうや って "
    "いて してい ている いる ある こと のか とは とは何 とき "
    "어디 무엇 언제 어떻 어떻게 입니 니다 입니다 습니 습니다 하나 나요 하나요 인가 가요 인가요 에서 어디에"
)


@dataclass(frozen=True, slots=True)
class Term:
    """One thing a query asks for: alternatives in the word fields (`words`) and in the identifier field (`exact`)."""

    text: str
    words: tuple[str, ...]
    exact: tuple[str, ...]

    @property
    def is_word(self) -> bool:
        """Whether it is a word, not an n-gram, of which a word has many."""
        return not is_dense(self.text)

    @property
    def is_trigram(self) -> bool:
        """Whether it is three characters of a longer run: its two bigrams ask for most of it already."""
        return len(self.text) == 3 and is_dense(self.text)  # noqa: PLR2004


_cache: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def normalise(text: str) -> str:
    """Compatibility forms (full width, ligatures, half-width kana) become the plain ones; case is kept."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def is_dense(run: str) -> bool:
    """Whether a non-empty run begins in a script that is written without spaces."""
    first = run[0]
    return first >= _DENSE[0][0] and any(low <= first <= high for low, high in _DENSE)


@cache
def _wide_chunk() -> re.Pattern[str]:
    # Compiled when the first text needs it: sets this large take milliseconds.
    dense = "".join(f"{low}-{high}" for low, high in _DENSE)
    return re.compile(f"[{dense}]+|[{_EMOJI}]|[^{_BREAK}{_WIDE_BREAK}{dense}{_EMOJI}]+")


def _chunks(text: str) -> list[str]:
    """Runs of a dense script, single emoji, and what white space and brackets leave of the rest."""
    text = normalise(text)
    found: list[str] = (_ASCII_CHUNK if text.isascii() else _wide_chunk()).findall(text)
    return found


def analyze(text: str) -> tuple[list[str], list[str]]:
    """Split `text` into the tokens to index, in order, with repeats: any text is fine, the result may be empty.

    Returns (tokens for the word fields, tokens for the identifier field).
    """
    words: list[str] = []
    exact: list[str] = []
    for chunk in _chunks(text):
        known = _cache.get(chunk)
        if known is None:
            known = _tokens(chunk)
        words.extend(known[0])
        exact.extend(known[1])
    return words, exact


def _tokens(chunk: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(word tokens, exact tokens) of one chunk, remembered: most words of a text come again."""
    if is_dense(chunk):
        return (*grams(chunk), *(chunk if len(chunk) > 1 else "")), ()
    if len(_cache) >= _CACHE_LIMIT:
        _cache.clear()
    result = _cache[chunk] = _latin(chunk)
    return result


def grams(run: str) -> list[str]:
    """Bigrams and trigrams of a run of a script without spaces; a single character stays itself."""
    size = len(run)
    if size <= 2:  # noqa: PLR2004
        return [run]
    tokens = []
    for start in range(size - 2):
        tokens.append(run[start : start + 2])
        tokens.append(run[start : start + 3])
    tokens.append(run[-2:])
    return tokens


def _latin(chunk: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    plain = chunk.rstrip(".:!?")
    if plain.isalpha() and (plain.islower() or plain[1:].islower() or len(plain) == 1):
        return (plain.lower()[:_LONGEST],), ()
    words: list[str] = []
    for part in _PART.findall(chunk):
        words.append(part.lower()[:_LONGEST])
        pieces = _PIECE.findall(part)
        if len(pieces) > 1:
            words.extend(piece.lower()[:_LONGEST] for piece in pieces)
    if not words and len(chunk) == 1 and not chunk.isascii():
        return (chunk,), ()  # an emoji
    return tuple(words), tuple(_exact(chunk, words))


def _exact(chunk: str, words: list[str]) -> list[str]:
    """The forms under which an identifier is asked for: whole, without dashes, path tails, and all parts joined."""
    whole = chunk.lower().rstrip(".:!?").lstrip(":!?")
    if not whole or len(whole) > 4 * _LONGEST:
        return []
    forms = [whole, whole.strip("-./\\~$@#*&%+_:!?")]
    tail = [piece for piece in re.split(r"[/\\]+", whole) if piece]
    if len(tail) > 1:
        forms += [tail[-1], "/".join(tail[-2:])]
    if words:
        forms.append("".join(part.lower() for part in _PART.findall(chunk)))
    return list(dict.fromkeys(form for form in forms if form))


def query_terms(query: str) -> tuple[str, ...]:
    """The distinct terms a query asks for, as `Hit.terms` names them."""
    return tuple(dict.fromkeys(term.text for term in question(query)[0]))


def question(query: str, limit: int = 64) -> tuple[list[Term], list[str]]:
    """Take a query apart.

    Returns (terms in order, each once, of which one must match; single characters of dense scripts, which only lift
    what matches). Stop words are left out unless nothing else is there. At most `limit` of each: the first ones of a
    query that is longer than any question.
    """
    terms: dict[str, Term] = {}
    fillers: dict[str, Term] = {}
    chars: dict[str, None] = {}
    if len(query) > _LONGEST_QUERY:
        query = query[:_LONGEST_QUERY].rsplit(None, 1)[0]
    for chunk in _chunks(query):
        if len(chunk) > 1 and is_dense(chunk):
            chars.update(dict.fromkeys(chunk))
        for term in _terms(chunk):
            stop = term.text in STOP_WORDS or term.text in _DENSE_STOP
            (fillers if stop else terms).setdefault(term.text, term)
        if len(terms) >= limit:
            break
    return list((terms or fillers).values())[:limit], list(chars)[:limit]


def _terms(chunk: str) -> list[Term]:
    if is_dense(chunk):
        return [Term(gram, (gram,), ()) for gram in grams(chunk)]
    words, exact = _tokens(chunk)
    if len(words) == 1:
        return [Term(exact[0] if exact else words[0], words, exact or words)]
    whole = [Term(exact[0], (exact[-1],), exact)] if exact else []
    # A single letter or digit of an identifier (the e of E0308) would match anything.
    return whole + [Term(word, (word,), (word,)) for word in words if len(word) > 1 or not whole]


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def day_words(day: str) -> str:
    """An ISO day as the words people search by: '2026-06-09' -> '2026-06-09 2026-06 9 June 2026'; '' if it is none."""
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", day[:10])
    if not match or not 1 <= int(match[2]) <= len(_MONTHS):
        return ""
    return f"{day[:10]} {day[:7]} {int(match[3])} {_MONTHS[int(match[2]) - 1]} {match[1]}"
