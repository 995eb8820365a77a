"""Facts survive any text: round trips, the two roads of reading, and edits that touch one line only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cofferctl import fact, head

QUICK = settings(deadline=None, max_examples=300)

ODD = [
    "yes",
    "null",
    "1.10",
    "~",
    "- a",
    "a: b",
    "a #b",
    "#",
    "[",
    "{",
    "&a",
    "*a",
    "!t",
    "%",
    "@",
    "`",
    "'",
    '"',
    "\\",
    " lead",
    "trail ",
    "x:",
    "\n",
    "\t",
    "\r",
    "\x00",
    "\x85",
    "\u2028",
    "\ufeff",
    "\ufffe",
    "\U0001ffff",
    "\ud83d",
    "\ud800",
    "\xa0",
    "\x7f",
    "😀",
    "日本語",
    "---",
    "...",
    "2026-03-16",
    "10:00",
    "NO",
    "=",
    "<<",
    "0x1f",
    "\\u0041",
]
texts = st.lists(st.sampled_from(ODD) | st.text(max_size=5), max_size=4).map("".join) | st.text(
    st.characters(exclude_categories=()), max_size=30
)
bodies = st.lists(
    st.sampled_from(["---", "", "---\n", "title: x", "\n", "# h", "\r", "\r\n", "\x0c", "```", "text", "=======", " "])
    | st.text(max_size=8),
    max_size=8,
).map("\n".join)
times = st.datetimes(
    datetime(1970, 1, 1),  # noqa: DTZ001 - the strategy adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-4, minutes=-30))]),
)


def cleaned(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@QUICK
@given(texts, texts, st.dictionaries(texts, texts, max_size=3), bodies, times)
@example("x" * 70, "d", {"k" * 2000: "v"}, "---\na: b\n---\n", datetime(2026, 1, 1, tzinfo=UTC))
@example("t", "", {}, "", datetime(2026, 1, 1, tzinfo=UTC))
def test_what_is_rendered_is_what_is_read(title, description, metadata, body, when):
    assume(title.strip() and (not description or description.strip()))
    assume(not {"actor", "agent", "ref"} & metadata.keys())
    data = fact.render(
        id="01JABCDEFGHJKMNPQRSTVWXYZ0",
        title=title,
        description=description,
        actor="agent",
        agent="a: b",
        session="null",
        created_at=when,
        updated_at=when,
        metadata=metadata,
        body=body,
    )
    read = fact.parse("knowledge/inbox/x.md", data)
    assert (read.title, read.description) == (cleaned(title), cleaned(description))
    assert dict(read.metadata) == {"actor": "agent", "agent": "a: b"} | {
        cleaned(k): cleaned(v) for k, v in metadata.items()
    }
    assert read.body == fact._lines(cleaned(body))
    assert (read.created_at, read.updated_at, read.session) == (when, when, "null")
    assert (read.head_ok, read.has_id, read.replaced) == (True, True, False)
    assert fact.decode(data)[read.body_offset :].removesuffix("\n") == read.body
    assert fact.normalize(data) == data
    assert data.endswith(b"\n")


@QUICK
@given(st.lists(texts, max_size=6))
def test_every_yaml_reader_sees_the_strings_we_wrote(values):
    yaml = pytest.importorskip("yaml")
    keys = {f"k{i}": cleaned(value) for i, value in enumerate(values)}
    written = "\n".join(head.entry(key, value) for key, value in keys.items())
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert (yaml.load(written, Loader=loader) or {}) == keys
    for value in keys.values():
        assert (yaml.safe_load(head.entry(value, "v"))) == {value: "v"}


lines = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "  ", " ", "    ", "\t"]),
    st.sampled_from(
        ["title", "metadata", "a", "b", "x-y", "updated_at", "", "- a", "? a", '"title"', "é", "# c", "&a x", "{"]
    ),
    st.sampled_from([":", ": ", ":  ", "", ":\t", " : "]),
    st.sampled_from(
        [
            "",
            "",
            "v",
            "1.10",
            "'q'",
            '"q"',
            '"a\\nb" # c',
            '"\\u0041\\/"',
            '"\\ud83d"',
            "v # c",
            "a b  ",
            "[a, b]",
            "{a: b}",
            "{a: b, title: c}",
            "|",
            ">-",
            "|+",
            "&a z",
            "*a",
            "!!str z",
            "a: b",
            "x:",
            "@",
            "~",
            "-",
            "- q",
            "\xe9\xa0",
            "\u2028",
            "\x85",
            "%",
            "\ufeff",
            "a#b",
            "<<",
            "...",
        ]
    )
    | texts.filter(lambda t: "\n" not in t),
)
heads = st.lists(lines, max_size=7).map(lambda found: "".join(f"{line}\n" for line in found).replace("---", "--"))
TITLES = [
    "title: old",
    "title: 'old # x'  # c",
    'title: "o\\n"',
    "title: |\n  a\n   b\n\n  c",
    "title: >+\n  a\n\n",
    "title:",
    "title:   # none",
    "title: a\n  b\n  c",
    "title:\n  far",
    "title: !!str x",
    "title: [a, b]",
    "title:\n  - a\n  - b",
    '"title": q',
    "name: other",
]
METADATA = [
    "metadata:\n  type: a\n  z: |\n    q",
    "metadata:\n    actor: user # who",
    "metadata: {a: b}",
    "metadata: {}",
    "metadata:",
    "metadata: x",
]
UPDATED = ["updated_at: 2020-01-01"]
OTHERS = [
    "# a comment",
    "",
    "x-y: [1, two] # keep",
    "nested:\n  b: 2\n  # c\n  a: 1",
    "when: 2026-03-16",
    "n: 1.10",
    "text: |\n  title: no\n  ---x",
    "text2: >-\n    folded\n    title: no",
    "created: 2020-01-01 # c",
    "é: ü",
    "? q\n: r",
    "anchor: &k v",
    "use: *k",
    "\ttab: x",
    "b: b: c",
]
good_heads = (
    st.tuples(
        *(
            st.sampled_from(["", line]) if isinstance(line, str) else st.sampled_from(["", *line])
            for line in (TITLES, METADATA, *UPDATED)
        ),
        st.lists(st.sampled_from(OTHERS[:-4]) | st.sampled_from(OTHERS), max_size=3, unique=True),
    )
    .flatmap(lambda parts: st.permutations([part for part in parts[:3] if part] + parts[3]))
    .map(lambda found: "".join(f"{line}\n" for line in found))
)
plain_values = st.text(
    st.sampled_from("ab1.:#'\"\\/u0dn -,[]{}&*!|>%@`~=<?\t\xa0é😀日\x85\u2028\ufeff\ufffe\x7f\r"), max_size=8
) | texts.filter(lambda text: "\n" not in text)
nearly_plain = st.builds(
    lambda key, found, below: (
        f"{key}: a{found[0]}\nb: {found[1]}\n"
        + (f'metadata:\n  x: "{found[2]}"\n  {key}:  {found[3]} \n' if below else "")
    ),
    st.sampled_from(["title", "a", "x-y", "_"]),
    st.tuples(plain_values, st.just("v") | plain_values, plain_values, st.just("w") | plain_values),
    st.booleans(),
)


@settings(deadline=None, max_examples=1500)
@given(heads | good_heads | nearly_plain | nearly_plain)
def test_the_fast_road_agrees_with_yaml(text):
    fast = head._read_plain(text)
    if fast is not None:
        assert fast == head._read_yaml(text)


@settings(deadline=None, max_examples=500)
@given(heads | good_heads, bodies, st.binary(max_size=6), st.booleans())
def test_no_file_makes_reading_or_editing_fail(lines, body, noise, with_crlf):
    data = f"---\n{lines}---\n{body}".encode("utf-8", "replace") + noise
    data = data.replace(b"\n", b"\r\n") if with_crlf else data
    for sample in (data, noise, data[::-1], data[3:]):
        read = fact.parse("a.md", sample)
        assert read.title
        assert fact.decode(sample)[read.body_offset :].removesuffix("\n") == read.body
        try:
            edited = fact.edit(sample, title="New: title")
        except fact.HeadUnreadable:
            continue
        again = fact.parse("a.md", edited)
        assert again.title == "New: title"
        assert again.body == read.body or read.body_offset == 0


@settings(deadline=None, max_examples=500)
@given(good_heads, bodies, texts.filter(lambda t: t.strip()), st.booleans(), st.booleans())
def test_an_edit_changes_the_lines_it_names_and_nothing_else(lines, body, title, with_crlf, with_bom):
    text = f"---\n{lines}---\n{fact._lines(body)}\nend"
    data = text.replace("\n", "\r\n").encode() if with_crlf else text.encode()
    data = b"\xef\xbb\xbf" + data if with_bom else data
    when = datetime(2026, 6, 9, tzinfo=UTC)
    before = fact.parse("a.md", data)
    try:
        edited = fact.edit(data, title=title, updated_at=when)
    except fact.HeadUnreadable:
        return
    after = fact.parse("a.md", edited)
    assert (after.title, after.updated_at) == (cleaned(title), when)
    assert (after.body, dict(after.metadata), after.created_at) == (
        before.body,
        dict(before.metadata),
        before.created_at,
    )
    start = data.index(b"---", 4 + 3 * with_bom + len(lines.replace("\n", "\r\n" if with_crlf else "\n").encode()))
    assert edited.endswith(data[start:])
    kept = [line for line in data[:start].splitlines(keepends=True) if line in edited]
    gone = [line for line in data[:start].splitlines(keepends=True) if line not in edited]
    assert kept[0] == data.splitlines(keepends=True)[0]
    spans = {part for line in TITLES + UPDATED for part in line.splitlines()}
    assert all(line.decode().rstrip("\r\n") in spans for line in gone)
    assert fact.edit(edited, title=title, updated_at=when) == edited


@settings(deadline=None, max_examples=300)
@given(good_heads, bodies, bodies, st.dictionaries(st.sampled_from(["type", "ref", "a", "é"]), texts, max_size=3))
def test_body_and_metadata_are_set_exactly(lines, body, new, metadata):
    data = f"---\n{lines}---\n{body}".encode()
    try:
        after = fact.parse("a.md", fact.edit(data, body=new, metadata=metadata))
    except fact.HeadUnreadable:
        return
    assert after.body == fact._lines(cleaned(new))
    assert {key: after.metadata[key] for key in metadata} == {key: cleaned(value) for key, value in metadata.items()}


@QUICK
@given(bodies, bodies)
def test_a_file_without_a_head_keeps_having_none(old, new):
    data = old.encode()
    read = fact.parse("a.md", data)
    assume(fact.split(fact.decode(data))[0] is None)
    assert fact.edit(data, updated_at=datetime(2026, 1, 1, tzinfo=UTC)) == data
    replaced = fact.edit(data, body=new)
    assert fact.parse("a.md", replaced).body == fact._lines(new)
    titled = fact.parse("a.md", fact.edit(data, title="T"))
    assert (titled.title, titled.body) == ("T", read.body)


@QUICK
@given(st.text() | bodies | texts, st.integers(2, 80))
def test_a_first_sentence_is_one_short_line(text, limit):
    sentence = fact.first_sentence(text, limit)
    assert len(sentence) <= limit
    assert "\n" not in sentence
