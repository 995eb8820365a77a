"""Walking a history, children before parents: the newest commits are read here, the far past by the git program.

A handful of commits is there before git would have started; of 20,000 commits git finds those that touch a path twenty
times faster than any reading of ours. Where there is no git program, or it refuses, the whole way is walked here; both
ways give the same commits in the same order, that of `git rev-list --date-order`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import count, islice
from typing import TYPE_CHECKING

from cofferctl.history import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from cofferctl.history.repository import Repository

SWITCH_AFTER = 256
"""So many commits are read here before git is asked for the rest."""
_FIELDS = 5
_FORMAT = "%T%x00%P%x00%ct%x00%an <%ae>%x00%B%x00"


@dataclass(frozen=True, slots=True)
class Node:
    """One commit as it is stored; ids in hex."""

    id: bytes
    tree: bytes
    parents: tuple[bytes, ...]
    time: int
    author: bytes
    message: bytes


class Walk:
    """Ways through the history of one repository."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._program = programs.git()
        self._found: dict[tuple[bytes, tuple[bytes, ...]], bytes | None] = {}

    def nodes(self, head: bytes) -> Iterator[Node]:
        """Every commit from `head` back."""
        for number, (node, rest) in enumerate(self._near(head), start=1):
            yield node
            if rest and number >= SWITCH_AFTER and self._program:
                yield from self._far(rest, lambda head: _parsed(self._git([f"--format={_FORMAT}", head.decode()])))
                return

    def touching(self, head: bytes, paths: AbstractSet[bytes]) -> Iterator[Node]:
        """The commits from `head` back that differ in some paths from each of their parents.

        The set of paths may grow while they are walked; what was passed by then is not looked at again.
        """
        for number, (node, rest) in enumerate(self._near(head), start=1):
            if self._touches(node, paths):
                yield node
            if rest and number >= SWITCH_AFTER and self._program:
                yield from self._touching_far(rest, paths)
                return

    def _touching_far(self, head: bytes, paths: AbstractSet[bytes]) -> Iterator[Node]:
        last: bytes | None = None
        while True:
            asked = frozenset(paths)
            behind = last is None
            ask, wanted = partial(self._named, paths=asked), partial(self._touches, paths=asked)
            for node in self._far(head, ask, wanted):
                if behind:
                    yield node
                    last = node.id
                    if len(paths) > len(asked):
                        break
                else:
                    behind = node.id == last
            else:
                return

    def _named(self, head: bytes, paths: AbstractSet[bytes]) -> Iterator[Node]:
        names = [os.fsdecode(path) for path in paths]
        for line in _split(self._git([head.decode(), "--", *names]), b"\n"):
            node = self._repo.node(line)
            if len(node.parents) <= 1 or self._touches(node, paths):  # git tells merges that differ from any parent
                yield node

    def _far(
        self, head: bytes, ask: Callable[[bytes], Iterator[Node]], wanted: Callable[[Node], bool] | None = None
    ) -> Iterator[Node]:
        """What git answers; should it fail half-way, the rest is walked here."""
        given = 0
        try:
            for node in ask(head):
                given += 1
                yield node
        except programs.Failed:
            ours = (node for node, _ in self._near(head) if wanted is None or wanted(node))
            yield from islice(ours, given, None)

    def _git(self, arguments: list[str]) -> Iterator[bytes]:
        command = ["rev-list", "--date-order", "--full-history", "--encoding=none", *arguments]
        return programs.stream(str(self._program), self._repo.path, command)

    def _near(self, head: bytes) -> Iterator[tuple[Node, bytes | None]]:
        """Every commit from `head` back, each with the one commit that all the rest begins with, if there is one."""
        rest: bytes | None = head
        while rest:
            node = self._repo.node(rest)
            if len(node.parents) > 1:
                region, rest = self._region(node)
                for before, inner in enumerate(_ordered(region), start=1):
                    yield inner, rest if before == len(region) else None
            else:
                rest = node.parents[0] if node.parents else None
                yield node, rest

    def _region(self, merge: Node) -> tuple[dict[bytes, Node], bytes | None]:
        """What a merge brought together: its ancestors down to the one commit they all stand on.

        When a root was passed the rest need not be an ancestor of all that was seen (clocks differ, and histories can
        be unrelated), so everything belongs to the region then.
        """
        order = count()
        region: dict[bytes, Node] = {}
        seen = {merge.id}
        waiting = [(-merge.time, next(order), merge)]
        rooted = False
        while waiting and (len(waiting) > 1 or rooted or not region):
            _, _, node = heappop(waiting)
            region[node.id] = node
            rooted = rooted or not node.parents
            for name in node.parents:
                if name not in seen:
                    seen.add(name)
                    parent = self._repo.node(name)
                    heappush(waiting, (-parent.time, next(order), parent))
        return region, waiting[0][2].id if waiting else None

    def _touches(self, node: Node, paths: AbstractSet[bytes]) -> bool:
        """Whether it differs in these paths from each of its parents."""
        names = [tuple(path.split(b"/")) for path in paths]
        now = [self._at(node.tree, name) for name in names]
        if not node.parents:
            return any(found is not None for found in now)
        parents = (self._repo.node(parent).tree for parent in node.parents)
        return all([self._at(tree, name) for name in names] != now for tree in parents)

    def _at(self, tree: bytes, path: tuple[bytes, ...]) -> bytes | None:
        """What a tree holds at a path; a subtree that was looked into is not read again."""
        key = (tree, path)
        if key not in self._found:
            below = self._repo.child(tree, path[0])
            self._found[key] = below if len(path) == 1 or below is None else self._at(below, path[1:])
        return self._found[key]


def _ordered(region: dict[bytes, Node]) -> Iterator[Node]:
    """Children before parents, else the newest first, as git does it."""
    children = dict.fromkeys(region, 0)
    for node in region.values():
        for parent in node.parents:
            if parent in children:
                children[parent] += 1
    order = count()
    first = next(iter(region.values()))
    ready = [(-first.time, next(order), first)]
    while ready:
        _, _, node = heappop(ready)
        yield node
        for parent in node.parents:
            if parent in children:
                children[parent] -= 1
                if not children[parent]:
                    found = region[parent]
                    heappush(ready, (-found.time, next(order), found))


def _parsed(chunks: Iterator[bytes]) -> Iterator[Node]:
    fields: list[bytes] = []
    for field in _split(chunks, b"\0"):
        fields.append(field)
        if len(fields) == _FIELDS:
            head, parents, seconds, author, message = fields
            _, name, tree = head.rsplit(None, 2)
            yield Node(name, tree, tuple(parents.split()), int(seconds), author, message)
            fields = []


def _split(chunks: Iterator[bytes], end: bytes) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(end)
        yield from whole


def parse(name: bytes, raw: bytes, parents: tuple[bytes, ...] | None = None) -> Node:
    """A commit from its stored bytes.

    Args:
        name: its id.
        raw: the object.
        parents: its parents where the repository knows better (grafts, the edge of a shallow clone).
    """
    head, _, message = raw.partition(b"\n\n")
    tree, author, seconds, found = b"", b"", 0, []
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            found.append(value)
        elif key == b"tree":
            tree = value
        elif key == b"author":
            author = value.rpartition(b"> ")[0] + b">"
        elif key == b"committer":
            seconds = int(value.rsplit(None, 2)[1])
    return Node(name, tree, tuple(found) if parents is None else parents, seconds, author, message)
