"""The tantivy side: schema, writing passages, and ranking by query builders, never by a query language."""

from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import pairwise

import tantivy
from tantivy import Occur, Query

from coffer_index.analyze import analyze, day_words, normalise, question
from coffer_index.chunk import Passage, passages
from coffer_index.model import Document, Hit

TYPE_CHECKING = False  # spares every cold process the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from coffer_index.analyze import Term

# Raise this whenever the same text would give other tokens or passages: other versions' indexes are left alone.
ANALYZER_VERSION = 1
_FIELDS = "key rev path digest lane card time title head body exact"
NAME = f"kw{ANALYZER_VERSION}-{zlib.crc32(_FIELDS.encode()):08x}"

# Tuned on the development corpora (tests/bench/quality.py); the figures are flat around these values.
_TITLE, _HEAD, _EXACT = 0.5, 0.5, 1.0
_TIE = 0.5  # how much the weaker fields of one term add to its best one
_TRIGRAM, _CHAR = 0.5, 0.7
_PHRASE = 0.2
_COVER = 0.6  # for each word that matches, however common: many words beat one rare one
_PREFIX = 0.4
_PREFIX_FROM = 4  # letters

_HEAP = 15_000_000  # tantivy's minimum for one thread
_META = "meta"
_COPIES = 1000  # equal texts are counted up to here
_EXPLAINED = 100  # hits beyond this many come without their terms

# What a broken index raises when it is read: tantivy's own errors, and ours when stored values make no sense.
DAMAGE = (ValueError, OSError, RuntimeError, KeyError, IndexError, TypeError, zlib.error)

Entry = tantivy.Document
"""One passage, ready to be written."""
_Scope = list[tuple[Occur, Query]]
_Found = list[tuple[float, tantivy.DocAddress]]


class Busy(Exception):
    """Another process holds tantivy's writer lock."""


def is_panic(error: BaseException) -> bool:
    """Whether `error` is a Rust panic, which is no Exception and whose class cannot be imported."""
    return type(error).__name__ == "PanicException"


def entries(document: Document, blob: str) -> list[Entry]:
    """The passages of a document as index entries."""
    return [_entry(document, blob, passage) for passage in _passages(document)]


def expected(document: Document, blob: str) -> list[Hit]:
    """The passages of a document as `Keyword.stored` gives them back."""
    cards = (_pack(document, blob, passage, _hashed(document, passage)) for passage in _passages(document))
    return [_unpack(card, 0.0)[0] for card in cards]


def _passages(document: Document) -> list[Passage]:
    return passages(document.body, document.title) or [Passage(0, 0, "")]


def _hashed(document: Document, passage: Passage) -> str:
    # Passages without text of their own must not all be folded into one.
    return digest(document.body[passage.start : passage.end] or f"{document.title}\n{document.description}")


def _entry(document: Document, blob: str, passage: Passage) -> Entry:
    text = document.body[passage.start : passage.end]
    hashed = _hashed(document, passage)
    title, title_exact = analyze(document.title)
    head, head_exact = analyze(f"{passage.heading} {document.description}")
    body, body_exact = analyze(f"{text}\n{day_words(document.day)}")
    entry = tantivy.Document()
    entry.add_text("path", document.path)
    entry.add_text("digest", hashed)
    entry.add_text("lane", document.lane)
    entry.add_float("time", document.time)
    entry.add_bytes("card", _pack(document, blob, passage, hashed))
    entry.add_text("title", _joined(title))
    entry.add_text("head", _joined(head))
    entry.add_text("body", _joined(body))
    entry.add_text("exact", _joined(title_exact + head_exact + body_exact))
    return entry


def digest(text: str) -> str:
    """A short hash of `text`, the same for texts that differ in white space or compatibility forms only."""
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, and searching needs no hash

    return blake2b(" ".join(normalise(text).split()).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _joined(tokens: list[str]) -> str:
    # Undecodable bytes reach us as lone surrogates, which tantivy refuses.
    return " ".join(tokens).encode("utf-8", "replace").decode()


def _pack(document: Document, blob: str, passage: Passage, hashed: str) -> bytes:
    start, end = document.offset + passage.start, document.offset + passage.end
    numbers = (repr(float(document.time)), str(document.passages), str(start), str(end))
    names = (document.path, blob, document.id, document.lane, document.title, passage.heading)
    # Only `extra`, the last one, may itself hold the separator.
    fields = (hashed, *numbers, *(name.replace("\0", "") for name in names), document.extra)
    return "\0".join(fields).encode("utf-8", "surrogatepass")


def _unpack(card: bytes, score: float) -> tuple[Hit, int]:
    """(hit, how many passages of its document one answer may show)."""
    fields = card.decode("utf-8", "surrogatepass").split("\0", 11)
    hashed, time, cap, start, end, path, blob, fact, lane, title, heading, extra = fields
    hit = Hit(path, blob, fact, title, lane, float(time), extra, int(start), int(end), heading, score, hashed)
    return hit, int(cap)


def _meta(manifest: Mapping[str, str], fingerprint: str) -> Entry:
    text = "\0".join(field for item in manifest.items() for field in item)
    entry = tantivy.Document()
    entry.add_text("key", _META)
    entry.add_text("rev", "=" + fingerprint)
    entry.add_bytes("card", zlib.compress(text.encode("utf-8", "surrogatepass"), 1))
    return entry


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("key", "rev", "path", "digest", "lane"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("card", stored=True)
    builder.add_float_field("time", indexed=True)
    for name in ("title", "head", "body"):
        builder.add_text_field(name, tokenizer_name="coffer_stem", index_option="position")
    builder.add_text_field("exact", tokenizer_name="coffer_fold", index_option="freq")
    return builder.build()


def _analyzer(*, stem: bool) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).filter(tantivy.Filter.ascii_fold())
    return (builder.filter(tantivy.Filter.stemmer("english")) if stem else builder).build()


class Keyword:
    """One generation of the index: a directory on disk, or memory."""

    def __init__(self, index: tantivy.Index) -> None:
        self._index = index
        self._schema = index.schema
        self._stem = _analyzer(stem=True)
        self._fold = _analyzer(stem=False)
        # Needed at each open: tantivy stores a tokenizer's name only.
        index.register_tokenizer("coffer_stem", self._stem)
        index.register_tokenizer("coffer_fold", self._fold)
        # No thread that watches the directory: every reader here reloads by itself.
        index.config_reader("manual")

    @classmethod
    def create(cls, directory: str | None) -> Keyword:
        """A new empty index in an existing empty directory, or in memory."""
        return cls(tantivy.Index(_schema(), directory))

    @classmethod
    def open(cls, directory: str) -> Keyword:
        """The index in `directory`; raises one of DAMAGE when it is not whole."""
        found = cls(tantivy.Index.open(directory))
        if not found._find("key", _META):
            raise ValueError("the index does not say what it stands for")
        return found

    def reload(self) -> None:
        """See the last commit, whichever process made it."""
        self._index.reload()

    def stands_for(self, fingerprint: str) -> bool:
        """Whether the index was written from the file map with this fingerprint."""
        return bool(self._find("rev", "=" + fingerprint))

    def manifest(self) -> dict[str, str]:
        """The file map, path -> blob id, from which the index was written; empty for a new index."""
        found = self._find("key", _META)
        if not found:
            return {}
        text = zlib.decompress(_card(self._index.searcher(), found[0][1])).decode("utf-8", "surrogatepass")
        fields = text.split("\0") if text else []
        return dict(zip(fields[0::2], fields[1::2], strict=True))

    def stored(self) -> Iterator[Hit]:
        """Every passage there is, in no order."""
        searcher = self._index.searcher()
        passages = Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, self._term("key", _META))])
        for _, address in searcher.search(passages, max(1, searcher.num_docs), count=False).hits:
            yield _unpack(_card(searcher, address), 0.0)[0]

    def _find(self, field: str, value: str) -> _Found:
        found: _Found = self._index.searcher().search(self._term(field, value), 1).hits
        return found

    def write(
        self, gone: Iterable[str], batches: Iterable[list[Entry]], manifest: Mapping[str, str], fingerprint: str
    ) -> None:
        """Delete the passages of all paths in `gone`, add the entries of each batch: all in one commit.

        `manifest` is read when the batches are all in, so their generator may still complete it. Raises Busy when
        another process writes.
        """
        writer = self._writer()
        try:
            for path in gone:
                writer.delete_documents_by_term("path", path)
            for batch in batches:
                for entry in batch:
                    writer.add_document(entry)
            writer.delete_documents_by_term("key", _META)
            writer.add_document(_meta(manifest, fingerprint))
            writer.commit()
        except BaseException:
            writer.rollback()
            raise
        finally:
            # Merges die with the process: without this each commit leaves one more segment for good.
            writer.wait_merging_threads()
        self._index.reload()

    def _writer(self) -> tantivy.IndexWriter:
        try:
            return self._index.writer(_HEAP, 1)
        except ValueError as error:
            if "LockBusy" in str(error):
                raise Busy from error
            raise

    def search(
        self,
        query: str,
        *,
        limit: int,
        files: Mapping[str, str] | None = None,
        lanes: Collection[str] | None = None,
        since: float | None = None,
    ) -> list[Hit]:
        """The best `limit` hits, best first; see `Index.search`."""
        searcher = self._index.searcher()
        terms, chars = question(query.encode("utf-8", "replace").decode())
        if not terms or (lanes is not None and not lanes):
            return []
        scope = self._scope(lanes, since)
        ranked = Query.boolean_query([(Occur.Must, self._ranking(searcher, terms, chars)), *scope])
        window = max(3 * limit + 10, 30)
        while True:
            window = max(1, min(window, searcher.num_docs))
            found = searcher.search(ranked, window, count=False).hits
            chosen = _choose(searcher, found, limit, files)
            if len(chosen) >= limit or len(found) < window or window == searcher.num_docs:
                break
            window = 4 * window
        matched = self._matched(searcher, chosen, terms)
        return [
            replace(
                hit,
                count=self._count(searcher, hit, scope, files),
                terms=tuple(matched.get(hit.digest, ())),
                ranks=(("keyword", rank, hit.score),),
            )
            for rank, hit in enumerate(chosen, 1)
        ]

    def _scope(self, lanes: Collection[str] | None, since: float | None) -> _Scope:
        scope: _Scope = []
        if lanes is not None:
            allowed = Query.boolean_query([(Occur.Should, self._term("lane", lane)) for lane in sorted(lanes)])
            scope.append((Occur.Must, Query.const_score_query(allowed, 0.0)))
        if since is not None:
            newer = Query.range_query(self._schema, "time", tantivy.FieldType.Float, lower_bound=float(since))
            scope.append((Occur.Must, Query.const_score_query(newer, 0.0)))
        return scope

    def _ranking(self, searcher: tantivy.Searcher, terms: list[Term], chars: list[str]) -> Query:
        """At least one term must match; phrases, single characters and near words only lift what does."""
        core = [self._alternatives(term) for term in terms]
        lift = [self._boosted("body", char, _CHAR) for char in chars]
        lift += [Query.const_score_query(one, _COVER) for one, term in zip(core, terms, strict=True) if term.is_word]
        words = [self._stemmed(term.words[0]) for term in terms]
        words = [word for word in words if word.isascii()]
        lift += [self._phrase(*pair) for pair in pairwise(words) if pair[0] != pair[1]]
        near = [query for word in words for query in self._near(searcher, word)]
        # A word alone that nobody wrote: then the words that begin so are the answer.
        (core if len(terms) == 1 else lift).extend(near)
        found = Query.boolean_query([(Occur.Should, query) for query in core])
        return Query.boolean_query([(Occur.Must, found), *((Occur.Should, query) for query in lift)])

    def _alternatives(self, term: Term) -> Query:
        fields = []
        for word in dict.fromkeys(map(self._stemmed, term.words)):
            fields.append(self._boosted("title", word, _TITLE))
            fields.append(self._boosted("head", word, _HEAD))
            fields.append(self._boosted("body", word, 1.0))
        fields += [self._boosted("exact", self._folded(form), _EXACT) for form in term.exact]
        best = Query.disjunction_max_query(fields, _TIE)
        return Query.boost_query(best, _TRIGRAM) if term.is_trigram else best

    def _near(self, searcher: tantivy.Searcher, stem: str) -> Iterator[Query]:
        """Longer words that begin so (auth: authentication)."""
        if not stem.isalpha() or len(stem) < _PREFIX_FROM:
            return
        for text, _ in searcher.terms_with_prefix("body", stem, limit=20):
            if text != stem:
                yield self._boosted("body", text, _PREFIX)

    def _phrase(self, first: str, second: str) -> Query:
        # Always two words: tantivy panics at a phrase of one.
        words: list[str | tuple[int, str]] = [first, second]
        return Query.boost_query(Query.phrase_query(self._schema, "body", words), _PHRASE)

    def _term(self, field: str, value: str) -> Query:
        return Query.term_query(self._schema, field, value, "basic")

    def _boosted(self, field: str, value: str, weight: float) -> Query:
        return Query.boost_query(Query.term_query(self._schema, field, value, "freq"), weight)

    def _stemmed(self, word: str) -> str:
        return "".join(self._stem.analyze(word)) or word

    def _folded(self, word: str) -> str:
        return "".join(self._fold.analyze(word)) or word

    def _count(self, searcher: tantivy.Searcher, hit: Hit, scope: _Scope, files: Mapping[str, str] | None) -> int:
        """How many documents in scope hold the text of `hit`."""
        if searcher.doc_freq("digest", hit.digest) < 2:  # noqa: PLR2004 - itself
            return 1
        same = Query.boolean_query([(Occur.Must, self._term("digest", hit.digest)), *scope])
        copies = (_unpack(_card(searcher, address), 0.0)[0] for _, address in searcher.search(same, _COPIES).hits)
        return len({(copy.path, copy.id) for copy in copies if _live(copy, files)})

    def _matched(self, searcher: tantivy.Searcher, hits: list[Hit], terms: list[Term]) -> dict[str, list[str]]:
        """Which terms matched, by the digest of the passage."""
        matched: dict[str, list[str]] = {hit.digest: [] for hit in hits[:_EXPLAINED]}
        if not matched:
            return matched
        among = Query.boolean_query([(Occur.Should, self._term("digest", one)) for one in matched])
        for term in terms:
            both = Query.boolean_query([(Occur.Must, self._alternatives(term)), (Occur.Must, among)])
            found = searcher.search(both, 4 * _EXPLAINED, count=False).hits
            for one in {_unpack(_card(searcher, address), 0.0)[0].digest for _, address in found}:
                matched[one].append(term.text)
        return matched


def _card(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> bytes:
    return bytes(searcher.doc(address).get_first("card") or b"")


def _live(hit: Hit, files: Mapping[str, str] | None) -> bool:
    return files is None or files.get(hit.path) == hit.blob


def _choose(searcher: tantivy.Searcher, found: _Found, limit: int, files: Mapping[str, str] | None) -> list[Hit]:
    """Hits of the raw results, best first: live files only, equal texts once, each document within its own limit."""
    chosen: list[Hit] = []
    digests: set[str] = set()
    headings: dict[tuple[str, str], set[str]] = {}
    cards = (_unpack(_card(searcher, address), score) for score, address in found)
    # Equal scores in an order of our own: tantivy's depends on how the index came about.
    for hit, cap in sorted(cards, key=lambda card: (-round(card[0].score, 4), card[0].path, card[0].start)):
        shown = headings.setdefault((hit.path, hit.id), set())
        if hit.digest in digests or len(shown) >= cap or hit.heading in shown or not _live(hit, files):
            continue
        digests.add(hit.digest)
        shown.add(hit.heading)
        chosen.append(hit)
        if len(chosen) >= limit:
            break
    return chosen
