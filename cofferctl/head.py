"""The YAML head of a Markdown file: found, read without typing its values, written, edited in place.

Two roads read a head: a line reader for plain heads such as our own (some microseconds, no YAML import), and
python-frontmatter over YAML events for everything else. A property test proves that both agree on whatever the first
accepts. Values stay the strings that were written: `1.10`, `NO`, `10:00`, `2026-03-16`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_HEAD_CHARS = 64 * 1024
MAX_DEPTH = 32

Value: TypeAlias = "str | list[Value] | dict[str, Value]"

# What YAML readers drop, break lines at, or refuse, LF aside; never taken by the plain road.
_BAD = "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff\\ud800-\\udfff"
# Beyond those: code points that no text should hold, written as escapes.
_NONCHARACTERS = "\\ufdd0-\\ufdef" + "".join(
    chr(plane << 16 | low) for plane in range(1, 17) for low in (0xFFFE, 0xFFFF)
)
_INDICATORS = "\\-?:,\\[\\]{}#&*!|>'\"%@`"
_KEY = "[A-Za-z_][A-Za-z0-9_-]{0,63}"
_ESCAPE = r'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U000[1-9a-fA-F][0-9a-fA-F]{4}|U0010[0-9a-fA-F]{4})'

_OPENING = re.compile(r"---[ \t]*+\r*+\n")
_CLOSING = re.compile(r"^---[ \t]*+\r*+(?:\n(?:\r*+\n)?|\Z)", re.MULTILINE)
_CONTROL = "\\x00-\\x1f\\x7f"
_LINE = re.compile(
    f"(  )?({_KEY}):(?: +(?:"
    f'"([^"\\\\{_CONTROL}]*+(?:{_ESCAPE}[^"\\\\{_CONTROL}]*+)*+)"'
    f"|([^ {_INDICATORS}{_CONTROL}](?:[^{_CONTROL}]*[^ {_CONTROL}])?)"
    "))? *"
)
_UNESCAPE = re.compile(r"\\(?:u(....)|U(........)|(.))")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ODD = f"[{_BAD}]"  # these two are compiled (and kept by `re`) on first need: a millisecond each
_MUST_ESCAPE = f'["\\\\\n{_BAD}{_NONCHARACTERS}]'
_WRITTEN = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Letters first, so that no YAML version can see a number, a date or a sexagesimal in it.
_PLAIN = re.compile(r"(?:[A-Za-z_]|[^\x00-\xa0\W\d])[^\x00-\x1f]*")
_TYPED_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# These begin with digits, but hold a letter no number has, or dashes no date has.
_ULID = re.compile(r"(?=.*[A-DF-Z])[0-7][0-9A-HJKMNP-TV-Z]{25}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME_KEYS = frozenset({"created_at", "updated_at"})
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d:\d\d", re.ASCII)
_KEY_CHARS = 1000  # YAML gives up looking for the colon after 1024
_SURROGATES = re.compile("[\\ud800-\\udfff]")


class HeadUnreadable(CofferError):
    """The head of a file cannot be changed without risking what a person wrote in it."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the head of this fact cannot be edited: {why}",
            hint="correct the lines between the two --- by hand",
            details={"reason": "head"},
        )


def split(text: str) -> tuple[str | None, int]:
    """Find the head: (its lines or None, where the body begins).

    The first line must be exactly `---`, and a later line too (blanks may follow). The empty line our renderer puts
    after the head belongs to neither part.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None, 0
    return text[opening.end() : closing.start()], closing.end()


def clean(text: str) -> str:
    """The text without lone surrogates, which no UTF-8 file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


# Reading.


def load(head: str) -> dict[str, Value] | None:
    """The mapping of a head, or None when it is not one, or too long. Of a repeated key the last value counts."""
    if len(head) > MAX_HEAD_CHARS:
        return None
    plain = _read_plain(head)
    if plain is not None:
        return plain
    try:
        return _read_yaml(head)
    except ValueError:
        return None


def _read_plain(head: str) -> dict[str, Value] | None:
    """The fast road: None for anything but `key: scalar` lines and one level below `metadata:`."""
    if not head.isascii() and re.search(_ODD, head):
        return None
    values: dict[str, Value] = {}
    inner: dict[str, Value] | None = None
    for line in head.removesuffix("\n").split("\n") if head else ():
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        indent, key, quoted, plain = match.groups()
        target = inner if indent else values
        if target is None or key in target:
            return None
        if not indent:
            inner = None
        if plain is not None:
            if ": " in plain or " #" in plain or plain[-1] == ":":
                return None
            target[key] = plain
        elif quoted is not None:
            target[key] = _UNESCAPE.sub(_unescape, quoted) if "\\" in quoted else quoted
        elif key == "metadata" and not indent:
            inner = target[key] = {}
        else:
            return None
    return None if values.get("metadata") == {} else values


def _unescape(match: re.Match[str]) -> str:
    short, long, letter = match.groups()
    return _SHORT.get(letter, letter) if letter else chr(int(short or long, 16))


def _read_yaml(head: str) -> dict[str, Value]:
    """The slow road, by python-frontmatter. ValueError when the head is not a YAML mapping."""
    import frontmatter  # noqa: PLC0415 - 30 ms that plain heads never pay
    from frontmatter.default_handlers import YAMLHandler  # noqa: PLC0415

    class Strings(YAMLHandler):
        """Fences as `split` sees them, values as they are written."""

        def split(self, text: str) -> tuple[str, str]:
            return split(text)[0] or "", ""

        def load(self, fm: str, **_: object) -> dict[str, Any]:
            return cast("dict[str, Any]", _value(_compose(fm)))

    values, _ = frontmatter.parse(f"---\n{head}---\n", handler=Strings())
    return cast("dict[str, Value]", values)


@dataclass(slots=True)
class _Node:
    """One YAML node: where it stands, and its string or its children (of a mapping: keys and values in turn)."""

    start: int
    end: int
    text: str | None = None
    mapping: bool = False
    flow: bool = False
    items: list[_Node] = field(default_factory=list)

    def pairs(self) -> Iterator[tuple[_Node, _Node]]:
        return zip(self.items[::2], self.items[1::2], strict=True)

    def named(self, key: str) -> list[_Node]:
        return [value for name, value in self.pairs() if name.text == key]


def _compose(head: str) -> _Node:
    """The node tree of a head. ValueError when it is not a mapping, nested beyond reason, or not YAML.

    Built from events, so that no alias is ever expanded: an alias of a scalar is its text, any other is `*name`.
    """
    import yaml  # noqa: PLC0415

    top = _Node(0, 0)
    open_nodes, anchors, documents = [top], dict[str, str](), 0
    try:
        for event in yaml.parse(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            documents += isinstance(event, yaml.DocumentStartEvent)
            if isinstance(event, yaml.CollectionEndEvent):
                _close(open_nodes.pop(), event)
            elif isinstance(event, yaml.NodeEvent):
                node = _open(event, anchors)
                open_nodes[-1].items.append(node)
                if node.text is None:
                    open_nodes.append(node)
            if len(open_nodes) > MAX_DEPTH or documents > 1:
                raise ValueError("nested too deep, or more than one document")
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error
    root = top.items[0] if top.items else _Node(0, 0, mapping=True)
    if not root.mapping:
        raise ValueError("not a mapping")
    return root


def _open(event: Any, anchors: dict[str, str]) -> _Node:
    """The node that a scalar, an alias or the start of a collection opens; untyped, as stubs make marks optional."""
    import yaml  # noqa: PLC0415

    node = _Node(event.start_mark.index, event.end_mark.index)
    if isinstance(event, yaml.ScalarEvent):
        node.text = event.value
        if event.anchor:
            anchors[event.anchor] = event.value
    elif isinstance(event, yaml.AliasEvent):
        node.text = anchors.get(event.anchor or "", f"*{event.anchor}")
    else:
        node.mapping = isinstance(event, yaml.MappingStartEvent)
        node.flow = bool(event.flow_style)
    return node


def _close(node: _Node, event: Any) -> None:
    """Set where a collection ends; YAML knows the end of a block only at the next token, past comments."""
    node.end = event.end_mark.index if node.flow or not node.items else node.items[-1].end


def _value(node: _Node) -> Value:
    if node.text is not None:
        return node.text
    if node.mapping:
        return {key.text: _value(value) for key, value in node.pairs() if key.text is not None}
    return [_value(item) for item in node.items]


# Writing.


def entry(key: str, value: str, indent: str = "") -> str:
    """One `key: value` without a line end; any strings, read back as the same strings by every YAML reader."""
    name = _scalar(key)
    if len(name) > _KEY_CHARS:
        return f"{indent}? {name}\n{indent}: {_scalar(value)}"
    return f"{indent}{name}: {_written(key, value)}"


def _written(key: str, value: str) -> str:
    """A value as YAML; our own times alone stand plain, as the times they are."""
    return value if key in _TIME_KEYS and _TIME.fullmatch(value) else _scalar(value)


def _scalar(text: str) -> str:
    """A string as YAML: plain when every reader takes it for that string, else double-quoted."""
    text = clean(text)
    if not re.search(_MUST_ESCAPE, text) and _is_plain(text):
        return text
    return '"' + re.sub(_MUST_ESCAPE, _escape, text) + '"'


def _is_plain(text: str) -> bool:
    if _ULID.fullmatch(text) or _UUID.fullmatch(text):
        return True
    odd = ": " in text or " #" in text or text.endswith(":") or text != text.strip() or text.lower() in _TYPED_WORDS
    return not odd and _PLAIN.fullmatch(text) is not None


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = f"{ord(char):x}"
    return _WRITTEN.get(char) or (f"\\u{code:0>4}" if len(code) <= 4 else f"\\U{code:0>8}")  # noqa: PLR2004


# Editing.


@dataclass(slots=True)
class _Draft:
    """A head under edit: which spans to replace, and which lines to add at its end."""

    head: str
    eol: str
    cuts: list[tuple[int, int, str]] = field(default_factory=list)
    tail: str = ""

    def put(self, parent: _Node, key: str, value: str, indent: str) -> str:
        """Set one key of a mapping; the lines to be added when it is missing, else the empty string."""
        found = parent.named(key)
        if len(found) > 1:
            raise HeadUnreadable(f"it has the key {key} more than once")
        if not found:
            return entry(key, value, indent).replace("\n", self.eol) + self.eol
        if found[0].text != value:
            self._replace(found[0], _written(key, value))
        return ""

    def _replace(self, node: _Node, new: str) -> None:
        """Replace a whole value, also one of many lines, but not the blank lines and comments after it."""
        end = node.start + len(self.head[node.start : node.end].rstrip())
        self.cuts.append((node.start, end, new if end > node.start else f" {new}"))

    def put_metadata(self, root: _Node, metadata: Mapping[str, str], indent: str) -> None:
        """Set keys below `metadata`, which is added when missing."""
        found = root.named("metadata")
        if len(found) > 1:
            raise HeadUnreadable("it has the key metadata more than once")
        block = found[0] if found else _Node(0, 0, mapping=True)
        if not block.mapping and block.end > block.start:
            raise HeadUnreadable("its metadata is no mapping")
        inner = self.indent(block) if block.items else f"{indent}  "
        lines = "".join([self.put(block, key, value, inner) for key, value in metadata.items()])
        if not found:
            self.tail += f"{indent}metadata:{self.eol}{lines}"
        elif lines and not block.items:  # `metadata:` or `metadata: {}`
            start = len(self.head[: block.start].rstrip(" "))
            self.cuts.append((start, block.end, self.eol + lines.removesuffix(self.eol)))
        elif lines:
            at = self._line_after(block.end)
            self.cuts.append((at, at, lines))

    def _line_after(self, position: int) -> int:
        if self.head[:position].endswith("\n"):
            return position
        return self.head.find("\n", position) + 1 or len(self.head)

    def indent(self, parent: _Node) -> str:
        """The blanks before the keys of a block mapping."""
        if parent.flow:
            raise HeadUnreadable("it is written in braces")
        first = parent.items[0].start if parent.items else 0
        blanks = self.head[max(self.head.rfind("\n", 0, first), self.head.rfind("\r", 0, first)) + 1 : first]
        if blanks.strip(" "):
            raise HeadUnreadable("a key does not begin its line")
        return blanks

    def result(self) -> str:
        head = self.head
        for start, end, text in sorted(self.cuts, reverse=True):
            head = head[:start] + text + head[end:]
        return head + self.tail


def edit_head(head: str, eol: str, scalars: Mapping[str, str], metadata: Mapping[str, str]) -> str:
    """The head with these keys set, and no other byte changed; `eol` ends added lines.

    That it says the same otherwise is proved by reading it again.

    Raises:
        HeadUnreadable: it does not parse, names a key twice, or has a shape that cannot be edited in place.
    """
    root, draft = _editable(head), _Draft(head, eol)
    indent = draft.indent(root)
    expected = cast("dict[str, Value]", _value(root))
    for key, value in scalars.items():
        expected[key] = clean(value)
        draft.tail += draft.put(root, key, clean(value), indent)
    if metadata:
        cleaned = {clean(key): clean(value) for key, value in metadata.items()}
        draft.put_metadata(root, cleaned, indent)
        inner = expected.get("metadata")
        expected["metadata"] = {**(inner if isinstance(inner, dict) else {}), **cleaned}
    edited = draft.result()
    if _value(_editable(edited)) != expected:
        raise HeadUnreadable("its lines do not allow this change in place")
    return edited


def _editable(head: str) -> _Node:
    if len(head) > MAX_HEAD_CHARS:
        raise HeadUnreadable(f"it is longer than {MAX_HEAD_CHARS} characters")
    try:
        # Bytes that are not UTF-8 stand as surrogates; one character for one keeps all positions.
        return _compose(_SURROGATES.sub("\ufffd", head))
    except ValueError as error:
        raise HeadUnreadable("it is not a YAML mapping") from error
